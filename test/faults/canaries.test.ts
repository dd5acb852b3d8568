import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { assessments, delivery, uuid } from '../support/events/deliveries.ts';
import { PATIENT, SECRETS, canariesIn } from '../support/faults/canaries.ts';
import {
  FORGED,
  type LeakyDeployment,
  WRITES,
  openLeakyDeployment,
} from '../support/faults/leaky-deployment.ts';
import { IDS, type Mode } from '../support/faults/leaky-upstream.ts';
import { type Gateway, tokenFor } from '../support/gateway.ts';
import { dial, initWith, subscribe, until } from '../support/ws/raw-socket.ts';

let deployment: LeakyDeployment;
/** The viewers' tokens and the webhooks' signatures, as they were used. */
const used: Record<string, string> = {};
beforeAll(async () => {
  deployment = await openLeakyDeployment();
  used['viewer’s token'] = deployment.token.split('.')[2] ?? '';
});
afterAll(() => deployment[Symbol.asyncDispose]());

/** No response since the last check may contain anything of a patient or a secret. */
function expectNoCanaries(): void {
  for (const text of deployment.received.splice(0)) expect(canariesIn(text, used)).toEqual([]);
}

async function readAndWrite(): Promise<void> {
  await deployment.read();
  for (const [mutation, input] of Object.entries(WRITES)) await deployment.write(mutation, input);
}

const gateway = () => deployment.server as unknown as Gateway;

/** Waits until the circuit is closed and no failure is cached, so that the next failure is a new one. */
async function recovered(): Promise<void> {
  deployment.upstream.mode = 'ok';
  await until(async () => !(await deployment.read()).errors);
  deployment.received.length = 0;
}

describe('patients and secrets', { timeout: 120_000 }, () => {
  it('are in the data of viewers who may see them', async () => {
    const { data } = await deployment.read();
    const minted = await deployment.write('authenticateClinician', { clinicianId: IDS.clinician });
    await readAndWrite();
    const { transcriptError: _, name, ...patient } = PATIENT;
    const shown = JSON.stringify([data, minted.data]);
    for (const value of [...Object.values(patient), ...name.split(' '), SECRETS.refreshToken])
      expect(shown).toContain(String(value));
    expect(deployment.upstream.seen.some(({ body }) => body.includes(PATIENT.instructions))).toBe(
      true,
    );
    expectNoCanaries();
  });

  it('are not in errors about the request', async () => {
    const wrong = { dateOfBirth: PATIENT.name, status: PATIENT.note, email: [PATIENT.email] };
    await deployment.read({ filter: wrong });
    await deployment.read({ filter: { [PATIENT.externalId]: 1 } });
    await deployment.read({ note: PATIENT.note, client: `${PATIENT.name}${FORGED}`, session: 7 });
    const query = `{ clinic(id: "${PATIENT.externalId}") { clients(filter: { dateOfBirth: "${PATIENT.email}" }) { totalCount } } }`;
    await deployment.ask(query);
    await deployment.write('magicEdit', {
      ...WRITES['magicEdit'],
      userInstructions: [PATIENT.instructions],
    });
    await deployment.write('magicEdit', { progressNoteId: PATIENT.note, userInstructions: ' ' });
    await deployment.ask(`{ __typename "${PATIENT.note}" }`);
    expectNoCanaries();
  });

  it.each<Mode>([
    404,
    409,
    429,
    403,
    'html',
    'truncated',
    'redirect',
    'without rows',
    500,
    'reset',
  ])('are not passed on from a failure of the Partner API that repeats them (%s)', async (mode) => {
    await recovered();
    const before = deployment.upstream.seen.length;
    deployment.upstream.mode = mode;
    await readAndWrite();
    expect(deployment.upstream.seen.length).toBeGreaterThan(before);
    expectNoCanaries();
  });

  it('are returned only to the caller when the Partner API rejects the request', async () => {
    await recovered();
    deployment.upstream.mode = 400;
    // Without a session nothing is read before the edit is sent.
    const { data } = await deployment.write('magicEdit', {
      progressNoteId: IDS.note,
      userInstructions: PATIENT.instructions,
      idempotencyKey: 'b',
    });
    expect(JSON.stringify(data)).toContain(PATIENT.instructions);
    await readAndWrite();
    deployment.received.length = 0;
  });

  it('are not returned when the Partner API rejects its own token', async () => {
    await recovered();
    deployment.upstream.mode = 401;
    await readAndWrite();
    expectNoCanaries();
    deployment.upstream.mode = 'ok';
  });

  it('are not in responses to webhooks, accepted, forged, quarantined or malformed', async () => {
    const payload = {
      sessionExternalId: PATIENT.sessionExternalId,
      error: PATIENT.transcriptError,
    };
    const { status, signature } = await deployment.webhook(
      delivery('session_transcript_error', payload),
    );
    expect(status).toBe(200);
    used['signature'] = signature;
    const odd = { eventType: PATIENT.name, payload: PATIENT, timeStamp: PATIENT.birthDate };
    expect((await deployment.webhook(odd)).status).toBe(200);
    const unfit = delivery('progress_note_generated', { progressNoteId: PATIENT.note });
    expect((await deployment.webhook(unfit)).status).toBe(200);
    const noTime = delivery('transcript_ready', payload, { timeStamp: PATIENT.externalId });
    expect((await deployment.webhook(noTime)).status).toBe(200);
    expect((await deployment.webhook(assessments(uuid(), [PATIENT.answer]))).status).toBe(200);
    expect((await deployment.webhook(`{"eventType": "${PATIENT.note}`)).status).toBe(400);
    const forged = delivery('transcript_ready', payload);
    for (const guess of [SECRETS.clientSecret, 'sha1=00', signature])
      expect((await deployment.webhook(forged, guess)).status).toBe(401);
    expectNoCanaries();
  });

  it('are not in WebSocket errors or close reasons', async () => {
    const expired = await tokenFor(['partner'], { expiresInSeconds: -5 });
    const foreign = `${deployment.token.slice(0, -4)}AAAA`;
    used['expired token'] = expired.split('.')[2] ?? '';
    const openings = [initWith(expired), initWith(foreign), initWith(PATIENT.note), PATIENT.note];
    for (const opening of [...openings, { type: PATIENT.name }, initWith(deployment.token)]) {
      using socket = dial(gateway());
      await once(socket.ws, 'open');
      socket.send(opening);
      socket.send(
        subscribe(
          PATIENT.name,
          `subscription { events { ${PATIENT.externalId.replaceAll('-', '_')} } }`,
        ),
      );
      socket.send(
        subscribe('2', 'subscription($f: EventFilter) { events(filter: $f) { cursor } }', {
          f: PATIENT,
        }),
      );
      socket.send({ type: 'ping', payload: { said: PATIENT.note.repeat(10) } });
      const { reason } = await socket.closed;
      const errors = socket.untaken.map(({ payload }) => payload);
      deployment.received.push(
        JSON.stringify([reason, errors]).replaceAll(/CANARY_EXTERNAL_0417/g, ''),
      );
    }
    using twice = dial(gateway());
    await once(twice.ws, 'open');
    twice.send(initWith(deployment.token));
    const { name } = PATIENT;
    for (const _ of [1, 2]) twice.send(subscribe(name, 'subscription { events { cursor } }'));
    deployment.received.push((await twice.closed).reason);
    const url = `${deployment.server.url}/graphql?token=${deployment.token}&name=${PATIENT.externalId}`;
    await (await fetch(url, { method: 'POST' })).text();
    using inUrl = dial(gateway(), { path: `/graphql?token=${deployment.token}` });
    expect((await inUrl.closed).code).toBe(1006);
    expectNoCanaries();
  });

  it('are in no log line, metric or span, and neither are control characters', async () => {
    const headers = { 'user-agent': PATIENT.name, 'x-request-id': SECRETS.apiKey };
    await deployment.ask(
      'query Odd { viewer { subject } }',
      {},
      { ...headers, traceparent: PATIENT.externalId },
    );
    await deployment.read({ client: `${IDS.client}${FORGED}` }, headers);
    const metrics = await (await fetch(`${deployment.server.url}/metrics`)).text();
    const { text: readiness } = await deployment.server.ready();
    deployment.server.signal('SIGTERM');
    await deployment.server.exited;
    const { stdout, stderr } = deployment.server;
    const spans = deployment.spans();
    expect(spans).toContain('GET /clinics/:clinicId/clients');
    expect(metrics).toContain('partner_call_seconds_bucket');
    expect(stdout.length).toBeGreaterThan(100);
    for (const line of [...stdout, stderr(), metrics, readiness, ...spans.split('\n')]) {
      expect(canariesIn(line, used)).toEqual([]);
      // oxlint-disable-next-line no-control-regex -- what terminals obey is what is looked for
      expect(line).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u2028]/);
    }
    for (const line of stdout) expect(JSON.parse(line)).not.toMatchObject({ msg: 'forged' });
    expect(stderr()).toBe('');
  });
});
