import type { ServerResponse } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createManualClock, viewerWith } from '../support/access/viewers.ts';
import { expectResponse } from '../support/fuzz/expect-response.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import {
  type Upstream,
  answer as respondWith,
  openUpstream,
  pageBody,
  uuid,
} from '../support/rest/upstream.ts';

let upstream: Upstream;
let gateway: Gateway;
let body = '';
const lines: string[] = [];
const respond = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(body);

function envOf({ connection }: Upstream) {
  const { baseUrl, clientId, clientSecret, apiKey } = connection;
  return {
    PARTNER_BASE_URL: baseUrl,
    PARTNER_CLIENT_ID: clientId,
    PARTNER_CLIENT_SECRET: clientSecret,
    PARTNER_API_KEY: apiKey,
  };
}

const openOverUpstream = (): Promise<Gateway> =>
  openGateway({ env: envOf(upstream), onLog: (line) => lines.push(line) });

beforeAll(async () => {
  upstream = await openUpstream((_, response) => respond(response));
  gateway = await openOverUpstream();
});
afterAll(async () => {
  await gateway.close();
  await upstream[Symbol.asyncDispose]();
});

const CLIENT = 'id firstName lastName email phoneNumber dateOfBirth status externalId raw';
const WALKS = {
  list: `query($id: ID!) { clinic(id: $id) { clients(first: 20) { totalCount nodes { ${CLIENT} } pageInfo { endCursor } } } }`,
  note: 'query($id: ID!) { progressNote(id: $id) { id isLoading note raw } }',
  // A directive makes it run on graphql's own executor.
  slowly: 'query($id: ID!) { progressNote(id: $id) { note raw @include(if: true) } }',
  artifacts: `query($id: ID!) { session(id: $id) { transcript { items { startTime speaker transcript } raw }
    mdm { risk crisisIntervention problemsAddressed { rationale level } raw } progressNote { note raw } } }`,
  score:
    'query($id: ID!) { assessmentScore(id: $id) { totalScore assessmentId answers { answerValue answerDisplay } raw } }',
  partner: '{ partner { raw } }',
};

let last = 100;
/** Queries a record that no test has read before. */
async function asked(walk: keyof typeof WALKS, answer: unknown) {
  body = typeof answer === 'string' ? answer : JSON.stringify(answer);
  last += 1;
  const { status, headers: _, ...result } = await gateway.query(WALKS[walk], { id: uuid(last) });
  expectResponse(status, JSON.stringify(result), walk);
  expect(lines.filter((line) => line.includes('unexpected error'))).toEqual([]);
  return { ...result, codes: result.errors?.map(({ extensions }) => extensions.code) ?? [] };
}

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const ODD = [5, -1, 1.5, true, '', '\u0000', '\ud800', null, [], {}, [null], [5], [{}], { a: [1] }];
const page = (meta: object, rows: readonly unknown[] = [{ id: uuid(1) }]) => ({
  ...(pageBody(rows.length, 1, rows) as object),
  meta: { totalItems: rows.length, currentPage: 1, ...meta },
});

describe('a response of the Partner API', () => {
  it('with any value for an attribute of a client is a row, or an omitted row', async () => {
    const names = ['firstName', 'email', 'phoneNumber', 'dateOfBirth', 'status', 'externalId'];
    for (const value of ODD) {
      const rows = names.map((name, n) => ({ id: uuid(n), [name]: value }));
      const { data } = await asked('list', page({}, [...rows, { id: value }]));
      const { totalCount, nodes } = data.clinic.clients;
      expect([value, totalCount, nodes.length]).toEqual([value, 7, 6]);
    }
  });

  it('with a new status of a client is UNKNOWN, and counted', async () => {
    const count = async () => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(/^partner_unknown_status_total (\d+)$/m.exec(text)?.[1]);
    };
    const before = await count();
    const rows = ['brand_new', 'Active', 'unknown'].map((status, n) => ({ id: uuid(n), status }));
    const { data } = await asked('list', page({}, rows));
    const statuses = data.clinic.clients.nodes.map((node: { status: string }) => node.status);
    expect(statuses).toEqual(['UNKNOWN', 'ACTIVE', 'UNKNOWN']);
    expect((await count()) - before).toBe(1);
  });

  it('with any values in an artifact is null fields and an intact raw', async () => {
    for (const value of ODD) {
      await asked('note', {
        note: value,
        isLoading: false,
        progressNoteId: value,
        sessionId: value,
      });
      await asked('note', { note: [], isLoading: value });
      const parts = { transcript: value, speaker: value, startTime: value, level: value };
      await asked('artifacts', { transcriptItems: value, problemsAddressed: value, note: [value] });
      const { data } = await asked('artifacts', {
        transcriptItems: [parts],
        problemsAddressed: [parts],
        risk: value,
      });
      expect(data.session.transcript.items).toHaveLength(1);
      expect(data.session.mdm.problemsAddressed).toHaveLength(1);
      await asked('score', { totalScore: value, answers: value, assessmentId: value });
      await asked('score', {
        totalScore: 1,
        answers: [{ answerValue: value, answerDisplay: value }],
      });
    }
  });

  it('with a null section of a note returns the other sections', async () => {
    const { data } = await asked('note', { note: [{ text: 'a' }, null, 'b'], isLoading: false });
    expect(data.progressNote.note).toEqual([{ text: 'a' }, 'b']);
    expect(data.progressNote.raw.note).toHaveLength(3);
  });

  it('with numbered speakers of a transcript has their numbers as text', async () => {
    const transcriptItems = [{ speaker: 0, transcript: 'a' }, { speaker: 'Client' }];
    const { data } = await asked('artifacts', { transcriptItems });
    const speakers = data.session.transcript.items.map((item: { speaker: string }) => item.speaker);
    expect(speakers).toEqual(['0', 'Client']);
  });

  it.each([
    ['a total of more rows than can be counted', page({ totalItems: 2 ** 31 })],
    ['a total past all numbers', page({ totalItems: Number.MAX_SAFE_INTEGER })],
    ['a total below zero', page({ totalItems: -1 })],
    ['half a row', page({ totalItems: 1.5 })],
    ['a total that is a text', page({ totalItems: '1' })],
    ['one row on a page before the last', page({ totalItems: 30, currentPage: undefined })],
    ['another page', page({ currentPage: 0 })],
    [
      'eleven rows',
      page(
        {},
        Array.from({ length: 11 }, (_, n) => ({ id: uuid(n) })),
      ),
    ],
    ['no rows but null', { ...page({}), data: null }],
    ['rows by number', { ...page({}), data: { 0: { id: uuid(1) } } }],
    ['no metadata but null', { ...page({}), meta: null }],
    ['an error in place of a page', { error: { message: 'a' } }],
    ['rows without a page around them', [{ id: uuid(1) }]],
    ['a byte order mark', `\ufeff${JSON.stringify(page({}))}`],
    ['two answers', `${JSON.stringify(page({}))}{}`],
    [
      '201 levels',
      JSON.stringify(page({}, [{ id: uuid(1), x: 'x' }])).replace('"x":"x"', `"x":${deep(198)}`),
    ],
  ])('with %s is not a list', async (_, answer) => {
    expect((await asked('list', answer)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });

  describe('where an operation may make eight calls', () => {
    const query = 'query($id: ID!, $of: ID!) { client(id: $id, clinicianId: $of) { firstName } }';
    let lists: Upstream;
    let narrow: Gateway;
    beforeAll(async () => {
      lists = await openUpstream(({ path }, response) => {
        const at = Number(new URL(path, 'http://x').searchParams.get('page'));
        respondWith(response, 200, pageBody(path.includes(uuid(98)) ? 200 : 2 ** 31 - 1, at));
      });
      narrow = await openGateway({ env: { ...envOf(lists), OPERATION_MAX_UPSTREAM_CALLS: '8' } });
    });
    afterAll(async () => {
      await narrow.close();
      await lists[Symbol.asyncDispose]();
    });

    it('with two billion rows takes no more memory to look for one of them', async () => {
      const before = process.memoryUsage().rss;
      const { errors } = await narrow.query(query, { id: uuid(999), of: uuid(97) });
      expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_EXPENSIVE');
      expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
    });

    it('that is one of very many pages is found once the pages before it are cached', async () => {
      const found = [];
      for (const _ of [1, 2, 3]) {
        const { data, errors } = await narrow.query(query, { id: uuid(195), of: uuid(98) });
        found.push(errors?.[0]?.extensions.code ?? (data.client && 'found'));
      }
      expect(found).toEqual(['QUERY_TOO_EXPENSIVE', 'QUERY_TOO_EXPENSIVE', 'found']);
    });
  });

  it('that has become much shorter is read up to its end', async () => {
    let total = 100;
    const pages: number[] = [];
    await using shrinking = await openUpstream(({ path }, response) => {
      const at = Number(new URL(path, 'http://x').searchParams.get('page'));
      pages.push(at);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(pageBody(total, at)));
    });
    const clock = createManualClock();
    await using moved = await openGateway({ env: envOf(shrinking), clock });
    const ask = await viewerWith(moved, [`clinician:${uuid(98)}`]);
    const find = () => ask(`{ client(id: "${uuid(85)}") { firstName } }`);
    expect((await find()).data.client).toEqual({ firstName: null });
    total = 15;
    clock.advance(120_000);
    pages.length = 0;
    expect((await find()).data.client).toBeNull();
    expect(pages).toEqual([9, 2, 1]);
  });

  it('with page 0 of 0 is an empty list', async () => {
    const { data, codes } = await asked('list', page({ totalPages: 0, currentPage: 0 }, []));
    expect(codes).toEqual([]);
    expect(data.clinic.clients).toEqual({
      totalCount: 0,
      nodes: [],
      pageInfo: { endCursor: null },
    });
  });

  it.each([
    ['score', { error: { message: 'a', statusCode: 404 } }],
    ['score', { message: 'Internal server error' }],
    ['partner', { error: { message: 'a' }, path: '/x' }],
    ['partner', { message: 'Internal server error' }],
  ] as const)('is no %s if it describes an error: %j', async (walk, answer) => {
    expect((await asked(walk, answer)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });

  it('is no artifact if it is no object', async () => {
    const { codes } = await asked('artifacts', '"x"');
    expect(codes).toEqual(Array(3).fill('UPSTREAM_BAD_RESPONSE'));
  });

  it('may have a message and other fields', async () => {
    const answer = { name: 'A', message: 'b' };
    expect((await asked('partner', answer)).data.partner.raw).toEqual(answer);
  });

  it('may be a list of partners', async () => {
    await using other = await openOverUpstream();
    body = '[{"name":"A"}]';
    expect((await other.query('{ partner { raw } }')).data.partner.raw).toEqual([{ name: 'A' }]);
    const slowly = await other.query('{ partner { raw @include(if: true) } }');
    expect(slowly.data.partner.raw).toEqual([{ name: 'A' }]);
  });

  it.each([
    ['fewer rows than it says', page({ totalItems: 9 })],
    ['more rows than it says', page({ totalItems: 1 }, [{ id: uuid(1) }, { id: uuid(2) }])],
    ['no rows, it says, and one', page({ totalItems: 0 })],
    ['rows that are none', page({}, [null, 'x', 5, [{ id: uuid(1) }]])],
    ['the same row twice', page({}, [{ id: uuid(1) }, { id: uuid(1) }])],
    ['keys given twice', `{"data":[],"data":[{"id":"${uuid(1)}"}],"meta":{"totalItems":1}}`],
    [
      'a prototype',
      `{"data":[{"id":"${uuid(1)}","__proto__":{"firstName":"x"}}],"meta":{"totalItems":1}}`,
    ],
    [
      '2,147,483,647 rows in all',
      page(
        { totalItems: 2 ** 31 - 1 },
        Array.from({ length: 10 }, (_, n) => ({ id: uuid(n) })),
      ),
    ],
  ])('with %s is returned as far as it is readable, and never fails here', async (_, answer) => {
    const { data } = await asked('list', answer);
    for (const { firstName } of data.clinic.clients?.nodes ?? []) expect(firstName).toBeNull();
  });

  it.each([5_000, 100_000])(
    'nested %d levels deep is rejected, by either executor',
    async (levels) => {
      const answer = `{"isLoading":false,"note":[${deep(levels)}]}`;
      expect((await asked('note', answer)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
      expect((await asked('slowly', answer)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    },
  );
});
