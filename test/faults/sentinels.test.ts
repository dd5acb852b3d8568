import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { assessments, delivery, uuid } from '../support/events/deliveries.ts';
import { PATIENT, SECRETS, sentinelsIn } from '../support/faults/sentinels.ts';
import {
  FORGED,
  type TellingScene,
  WRITES,
  openTellingScene,
} from '../support/faults/telling-scene.ts';
import { IDS, type Mood } from '../support/faults/telling-upstream.ts';
import { type Gateway, tokenFor } from '../support/gateway.ts';
import { dial, initWith, subscribe, until } from '../support/ws/raw-socket.ts';

let scene: TellingScene;
/** The viewers' tokens and the webhooks' signatures, as they were used. */
const used: Record<string, string> = {};
beforeAll(async () => {
  scene = await openTellingScene();
  used['viewer’s token'] = scene.token.split('.')[2] ?? '';
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Nothing that was said since may hold anything of a patient or a secret. */
function expectQuiet(): void {
  for (const text of scene.said.splice(0)) expect(sentinelsIn(text, used)).toEqual([]);
}

async function readAndWrite(): Promise<void> {
  await scene.read();
  for (const [mutation, input] of Object.entries(WRITES)) await scene.write(mutation, input);
}

const gateway = () => scene.server as unknown as Gateway;

/** Its circuit closed, its cache empty of failures: the next failure is one of its own. */
async function recovered(): Promise<void> {
  scene.upstream.mood = 'well';
  await until(async () => !(await scene.read()).errors);
  scene.said.length = 0;
}

describe('patients and secrets', { timeout: 60_000 }, () => {
  it('are shown to whoever may see them', async () => {
    const { data } = await scene.read();
    const minted = await scene.write('authenticateClinician', { clinicianId: IDS.clinician });
    await readAndWrite();
    const { transcriptError: _, name, ...patient } = PATIENT;
    const shown = JSON.stringify([data, minted.data]);
    for (const value of [...Object.values(patient), ...name.split(' '), SECRETS.refreshToken])
      expect(shown).toContain(String(value));
    expect(scene.upstream.seen.some(({ body }) => body.includes(PATIENT.instructions))).toBe(true);
    expectQuiet();
  });

  it('are not in errors about what was asked', async () => {
    const wrong = { dateOfBirth: PATIENT.name, status: PATIENT.note, email: [PATIENT.email] };
    await scene.read({ filter: wrong });
    await scene.read({ filter: { [PATIENT.externalId]: 1 } });
    await scene.read({ note: PATIENT.note, client: `${PATIENT.name}${FORGED}`, session: 7 });
    const query = `{ clinic(id: "${PATIENT.externalId}") { clients(filter: { dateOfBirth: "${PATIENT.email}" }) { totalCount } } }`;
    await scene.ask(query);
    await scene.write('magicEdit', {
      ...WRITES['magicEdit'],
      userInstructions: [PATIENT.instructions],
    });
    await scene.write('magicEdit', { progressNoteId: PATIENT.note, userInstructions: ' ' });
    await scene.ask(`{ __typename "${PATIENT.note}" }`);
    expectQuiet();
  });

  it.each<Mood>([
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
  ])(
    'are not passed on from an answer of the Partner API’s that repeats them (%s)',
    async (mood) => {
      await recovered();
      const before = scene.upstream.seen.length;
      scene.upstream.mood = mood;
      await readAndWrite();
      expect(scene.upstream.seen.length).toBeGreaterThan(before);
      expectQuiet();
    },
  );

  it('are told to the caller alone when the Partner API says what is wrong with the request', async () => {
    await recovered();
    scene.upstream.mood = 400;
    // Without a session nothing is read before the edit is sent.
    const { data } = await scene.write('magicEdit', {
      progressNoteId: IDS.note,
      userInstructions: PATIENT.instructions,
      idempotencyKey: 'b',
    });
    expect(JSON.stringify(data)).toContain(PATIENT.instructions);
    await readAndWrite();
    scene.said.length = 0;
  });

  it('are not told when the Partner API refuses its own token', async () => {
    await recovered();
    scene.upstream.mood = 401;
    await readAndWrite();
    expectQuiet();
    scene.upstream.mood = 'well';
  });

  it('are not told of webhooks, taken, forged, set aside or malformed', async () => {
    const payload = {
      sessionExternalId: PATIENT.sessionExternalId,
      error: PATIENT.transcriptError,
    };
    const { status, signature } = await scene.webhook(
      delivery('session_transcript_error', payload),
    );
    expect(status).toBe(200);
    used['signature'] = signature;
    const odd = { eventType: PATIENT.name, payload: PATIENT, timeStamp: PATIENT.birthDate };
    expect((await scene.webhook(odd)).status).toBe(200);
    const unfit = delivery('progress_note_generated', { progressNoteId: PATIENT.note });
    expect((await scene.webhook(unfit)).status).toBe(200);
    const noTime = delivery('transcript_ready', payload, { timeStamp: PATIENT.externalId });
    expect((await scene.webhook(noTime)).status).toBe(200);
    expect((await scene.webhook(assessments(uuid(), [PATIENT.answer]))).status).toBe(200);
    expect((await scene.webhook(`{"eventType": "${PATIENT.note}`)).status).toBe(400);
    const forged = delivery('transcript_ready', payload);
    for (const guess of [SECRETS.clientSecret, 'sha1=00', signature])
      expect((await scene.webhook(forged, guess)).status).toBe(401);
    expectQuiet();
  });

  it('are not told by sockets, nor why they close', async () => {
    const expired = await tokenFor(['partner'], { expiresInSeconds: -5 });
    const foreign = `${scene.token.slice(0, -4)}AAAA`;
    used['expired token'] = expired.split('.')[2] ?? '';
    const openings = [initWith(expired), initWith(foreign), initWith(PATIENT.note), PATIENT.note];
    for (const opening of [...openings, { type: PATIENT.name }, initWith(scene.token)]) {
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
      scene.said.push(JSON.stringify([reason, errors]).replaceAll(/SENTINEL_EXTERNAL_0417/g, ''));
    }
    using twice = dial(gateway());
    await once(twice.ws, 'open');
    twice.send(initWith(scene.token));
    const { name } = PATIENT;
    for (const _ of [1, 2]) twice.send(subscribe(name, 'subscription { events { cursor } }'));
    scene.said.push((await twice.closed).reason);
    const url = `${scene.server.url}/graphql?token=${scene.token}&name=${PATIENT.externalId}`;
    await (await fetch(url, { method: 'POST' })).text();
    using inUrl = dial(gateway(), { path: `/graphql?token=${scene.token}` });
    expect((await inUrl.closed).code).toBe(1006);
    expectQuiet();
  });

  it('and what is meant to break lines are in no line, metric or span', async () => {
    const headers = { 'user-agent': PATIENT.name, 'x-request-id': SECRETS.apiKey };
    await scene.ask(
      'query Odd { viewer { subject } }',
      {},
      { ...headers, traceparent: PATIENT.externalId },
    );
    await scene.read({ client: `${IDS.client}${FORGED}` }, headers);
    const metrics = await (await fetch(`${scene.server.url}/metrics`)).text();
    const { text: readiness } = await scene.server.ready();
    scene.server.signal('SIGTERM');
    await scene.server.exited;
    const { stdout, stderr } = scene.server;
    const spans = scene.spans();
    expect(spans).toContain('GET /clinics/:clinicId/clients');
    expect(metrics).toContain('partner_call_seconds_bucket');
    expect(stdout.length).toBeGreaterThan(100);
    for (const line of [...stdout, stderr(), metrics, readiness, ...spans.split('\n')]) {
      expect(sentinelsIn(line, used)).toEqual([]);
      // oxlint-disable-next-line no-control-regex -- what terminals obey is what is looked for
      expect(line).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u2028]/);
    }
    for (const line of stdout) expect(JSON.parse(line)).not.toMatchObject({ msg: 'forged' });
    expect(stderr()).toBe('');
  });
});
