import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { codesOf, envelope } from '../../support/mutation/edits.ts';

const ROUTE = 'POST /clinicians/:id/authenticate';
const FIELDS =
  'type: __typename ... on ClinicianTokens { AccessToken IdToken RefreshToken ExpiresIn raw }';
const MINT = `mutation($id: ID!) { result: authenticateClinician(input: { clinicianId: $id }) { ${FIELDS} } }`;

const lines: string[] = [];
let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(line) });
});
afterAll(() => gateway.close());
afterEach(() => {
  gateway.sandbox.clearAnswers();
  gateway.sandbox.resetCounts();
});

async function mint(id = gateway.sandbox.ids.clinician(0), headers?: Record<string, string>) {
  const answer = await gateway.query(MINT, { id }, headers);
  return { ...answer, result: answer.data?.result };
}

describe('a clinician’s tokens', () => {
  it('are a new pair each time, with the field names that the widget expects', async () => {
    const [first, second] = [await mint(), await mint()];
    const { type, raw, ...named } = first.result;
    expect(type).toBe('ClinicianTokens');
    expect(raw).toEqual(named);
    expect(raw).toEqual({
      AccessToken: expect.any(String),
      IdToken: expect.any(String),
      RefreshToken: expect.any(String),
      ExpiresIn: 600,
    });
    expect(second.result.raw.RefreshToken).not.toBe(raw.RefreshToken);
    expect(gateway.sandbox.countOf(ROUTE)).toBe(2);
    expect(gateway.sandbox.requests.at(-1)?.headers['content-length']).toBe('0');
  });

  it('are issued separately for concurrent requests', async () => {
    const pairs = await Promise.all(Array.from({ length: 5 }, () => mint()));
    expect(new Set(pairs.map(({ result }) => result.RefreshToken)).size).toBe(5);
    expect(gateway.sandbox.countOf(ROUTE)).toBe(5);
  });

  it.each([{}, { IdToken: {} }])(
    'are accepted with unknown fields, a fraction of a second and %j',
    async (id) => {
      const pair = {
        AccessToken: 'a',
        RefreshToken: 'r',
        ExpiresIn: 599.75,
        Scope: { x: ['y'] },
        ...id,
      };
      gateway.sandbox.answerNext(ROUTE, { body: pair });
      const { result, errors } = await mint();
      expect(errors).toBeUndefined();
      expect(result).toEqual({
        type: 'ClinicianTokens',
        AccessToken: 'a',
        IdToken: null,
        RefreshToken: 'r',
        ExpiresIn: 599,
        raw: pair,
      });
    },
  );

  it('are never cached or logged', async () => {
    const { result, headers } = await mint();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(lines.join('')).toContain('"kind":"mutation"');
    for (const token of [result.AccessToken, result.IdToken, result.RefreshToken])
      expect(lines.join('')).not.toContain(token);
  });

  it('are not found, and not requested, for another clinician', async () => {
    const { clinician } = gateway.sandbox.ids;
    const authorization = `Bearer ${await tokenFor([`clinician:${clinician(1)}`])}`;
    expect((await mint(clinician(2), { authorization })).result).toEqual({ type: 'NotFound' });
    expect(gateway.sandbox.countOf()).toBe(0);
    expect((await mint(clinician(1), { authorization })).result.type).toBe('ClinicianTokens');
  });

  it('are not found for a clinician unknown to the Partner API', async () => {
    expect((await mint('8f14e45f-ceea-467f-a8d1-6b1e7c1f0a2b')).result.type).toBe('NotFound');
  });

  it.each(['x', '../partners', '00000000-0000-0000-0000-000000000000'])(
    'are not requested with the id %s',
    async (id) => {
      expect(codesOf(await mint(id))).toEqual(['BAD_USER_INPUT']);
      expect(gateway.sandbox.countOf()).toBe(0);
    },
  );

  it('are rejected over server-sent events', async () => {
    const authorization = `Bearer ${await tokenFor(['partner'])}`;
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization,
      },
      body: JSON.stringify({ query: MINT, variables: { id: gateway.sandbox.ids.clinician(0) } }),
    });
    const text = await response.text();
    expect(text).toContain('Clinician tokens are available over plain HTTP only.');
    expect(text).not.toContain('RefreshToken"');
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('are requested once if the outcome is unknown', async () => {
    gateway.sandbox.answerNext(ROUTE, { status: 500, times: 5 });
    expect((await mint()).errors).toMatchObject([
      {
        message: expect.stringContaining('so ask for another pair.'),
        extensions: { code: 'OUTCOME_UNKNOWN' },
      },
    ]);
    expect(gateway.sandbox.countOf(ROUTE)).toBe(1);
  });

  it('are never reported as issued after a rejection', async () => {
    gateway.sandbox.answerNext(ROUTE, { status: 409, body: envelope(409, 'not now') });
    expect(codesOf(await mint())).toEqual(['BAD_USER_INPUT']);
    gateway.sandbox.answerNext(ROUTE, { body: { accessToken: 'camel' } });
    expect(codesOf(await mint())).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });
});

it('a rejection of the Partner API is not quoted in the message of the error', async () => {
  gateway.sandbox.answerNext(ROUTE, { status: 400, body: envelope(400, 'Jane is on leave') });
  const { errors } = await mint();
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(errors?.[0]?.message).not.toContain('Jane');
});

const call = (alias: string) =>
  `${alias}: authenticateClinician(input: { clinicianId: $id }) { __typename }`;

describe('more than one pair in an operation', () => {
  it.each([
    ['two aliases', `mutation($id: ID!) { ${call('a')} ${call('b')} }`],
    [
      'a fragment',
      `mutation($id: ID!) { ${call('a')} ...More } fragment More on Mutation { ${call('b')} }`,
    ],
    [
      'fragments in fragments',
      `mutation($id: ID!) { ...A ...B } fragment A on Mutation { ${call('a')} }
       fragment B on Mutation { ... on Mutation { ${call('b')} } }`,
    ],
  ])('is rejected before any call: %s', async (_, document) => {
    const answer = await gateway.query(document, { id: gateway.sandbox.ids.clinician(0) });
    expect(answer.data).toBeUndefined();
    expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('does not include a skipped field', async () => {
    const document = `mutation($id: ID!) { ${call('a')}
      b: authenticateClinician(input: { clinicianId: $id }) @skip(if: true) { __typename } }`;
    const { data } = await gateway.query(document, { id: gateway.sandbox.ids.clinician(0) });
    expect(data).toEqual({ a: { __typename: 'ClinicianTokens' } });
  });
});
