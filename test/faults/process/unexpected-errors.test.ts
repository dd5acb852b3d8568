import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../../sandbox/sandbox.ts';
import { sqliteFailureOf } from '../../../src/store/sqlite/database.ts';
import { openEmbedded } from '../../../src/store/sqlite/open.ts';
import { noteEvent, signed } from '../../support/faults/sender.ts';
import {
  type ServerProcess,
  createStoreDir,
  startServer,
} from '../../support/faults/process/process.ts';
import { PATIENT, canariesIn } from '../../support/faults/canaries.ts';
import { UNEXPECTED } from '../../support/faults/process/unexpected-errors.ts';
import { type Gateway, DETERMINISTIC, post, tokenFor } from '../../support/gateway.ts';
import { dialIn, subscribe, until } from '../../support/ws/raw-socket.ts';

let sandbox: Sandbox;
let server: ServerProcess;
let storeDir: string;
beforeAll(async () => {
  storeDir = createStoreDir();
  sandbox = await openSandbox({ switches: DETERMINISTIC });
  await spoilStore();
  const preload = ['test/support/faults/process/throw-unexpected-errors.ts'];
  server = await startServer({ sandbox, storeDir, preload, env: { LOG_LEVEL: 'debug' } });
});
afterAll(async () => {
  await server.kill();
  await sandbox.close();
  rmSync(storeDir, { recursive: true, force: true });
});

/** An event of the second client violates a constraint, and the database's message has the patient's name. */
async function spoilStore(): Promise<void> {
  const settings = { retentionMs: 1e9, onProblem: () => {} };
  const store = await openEmbedded(storeDir, settings);
  await store[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(storeDir, 'events.db'));
  database.exec(`CREATE TRIGGER spoilt BEFORE INSERT ON event WHEN NEW.subject = 'session:${sandbox.ids.session(1, 0)}'
    BEGIN SELECT RAISE(ABORT, '${PATIENT.name}: ${PATIENT.note}'); END`);
  database.close();
}

const linesOf = (requestId: string) => server.stdout.filter((line) => line.includes(requestId));
const unexpected = () => server.stdout.filter((line) => line.includes('unexpected error')).length;
const MASKED = [{ message: 'Unexpected error.', extensions: { code: 'INTERNAL_SERVER_ERROR' } }];
const gateway = () => server as unknown as Gateway;

async function webhook(client: number) {
  const body = noteEvent(sandbox, crypto.randomUUID(), client);
  const init = { method: 'POST', body, headers: signed(sandbox, body) };
  const response = await fetch(`${server.url}/webhooks`, init);
  return { status: response.status, text: await response.text() };
}

const QUERIES = ['{ partner { raw } }', '{ organizations { nodes { raw } } }'];

describe('an unexpected error is masked, and its text is in no log line', () => {
  it.each(Object.keys(UNEXPECTED))('%s, thrown by a resolver', async (subject) => {
    const authorization = `Bearer ${await tokenFor(['partner'], { subject })}`;
    for (const document of [...QUERIES, ...QUERIES.map((query) => `${query} #`)]) {
      const query = document.replace(
        'raw',
        document.endsWith('#') ? 'raw @skip(if: false)' : 'raw',
      );
      const id = randomUUID();
      const sent = { authorization, 'x-request-id': id };
      const { status, errors, headers } = await post(server.url, { query }, sent);
      expect([status, errors?.[0]]).toMatchObject([200, MASKED[0]]);
      expect(canariesIn(JSON.stringify([errors, [...headers]]))).toEqual([]);
      await until(() => linesOf(id).some((line) => line.includes('unexpected error')));
    }
  });

  it.each(['error', 'a text', 'nothing', 'an error of GraphQL'])(
    '%s, thrown while an event is delivered',
    async (subject) => {
      using socket = await dialIn(gateway(), await tokenFor(['partner'], { subject }));
      const { data } = await server.query('{ eventCursor }');
      const query =
        'subscription($after: EventCursor) { noteReady(after: $after) { progressNote { note } } }';
      socket.send(subscribe('1', query, { after: data.eventCursor }));
      expect(await webhook(0)).toEqual({ status: 200, text: '' });
      const { payload } = await socket.next();
      expect(payload.errors).toMatchObject(MASKED);
      expect(canariesIn(JSON.stringify(payload))).toEqual([]);
    },
  );

  it('thrown while a subscription starts: its id gets an error, and the socket stays open', async () => {
    using socket = await dialIn(gateway());
    socket.send(subscribe('1', 'subscription { transcriptReady { cursor } }'));
    expect(await socket.next()).toMatchObject({ id: '1', type: 'error', payload: MASKED });
    socket.send({ type: 'ping' });
    expect(await socket.next()).toEqual({ type: 'pong' });
  });

  it('thrown while a subscription over server-sent events starts: 500', async () => {
    const authorization = `Bearer ${await tokenFor(['partner'])}`;
    const query = 'subscription { transcriptReady { cursor } }';
    const sent = { authorization, accept: 'text/event-stream' };
    expect(await post(server.url, { query }, sent)).toMatchObject({ status: 500, errors: MASKED });
  });

  it('thrown by the store: 503, and other events are accepted', async () => {
    expect(await webhook(1)).toEqual({ status: 503, text: '' });
    expect(await webhook(0)).toEqual({ status: 200, text: '' });
    await until(() => server.stdout.some((line) => line.includes('could not be stored')));
    expect(sqliteFailureOf(new Error(PATIENT.note))).toEqual({ isDamage: false, reason: 'Error' });
  });

  it('thrown by an HTTP handler', async () => {
    server.signal('SIGUSR2');
    await until(async () => (await webhook(0)).status === 503);
    const response = await fetch(`${server.url}/metrics`);
    expect([response.status, canariesIn(await response.text())]).toEqual([500, []]);
    server.signal('SIGUSR2');
    await until(async () => (await webhook(0)).status === 200);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
  });

  it('in the output of the whole process', async () => {
    const { text } = await server.ready();
    server.signal('SIGTERM');
    await server.exited;
    expect(unexpected()).toBeGreaterThan(4 * Object.keys(UNEXPECTED).length);
    for (const line of [...server.stdout, server.stderr(), text])
      expect(canariesIn(line)).toEqual([]);
    expect(server.stderr()).toBe('');
  });
});
