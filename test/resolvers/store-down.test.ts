import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';
import { artifactId } from '../support/global-id.ts';
import {
  type Change,
  change,
  changes,
  countOf,
  envelope,
  nothingSent,
} from '../support/mutation/edits.ts';
import { type RedisServer, redisAvailable, startRedis } from '../support/redis-server.ts';

let redis: RedisServer;
let gateway: Gateway;
async function open() {
  redis = await startRedis();
  gateway = await openGateway({ env: { REDIS_URL: redis.url } });
  await gateway.query('{ partner { __typename } }');
}
async function close() {
  await gateway.close();
  await redis[Symbol.asyncDispose]();
}

describe.skipIf(!redisAvailable)('with the store down', () => {
  beforeAll(async () => {
    await open();
    await redis.kill();
  });
  afterAll(close);
  beforeEach(() => gateway.sandbox.resetCounts());

  it.each<[Change, object]>([
    ['magicEdit', { idempotencyKey: 'k' }],
    ['regenerate', { idempotencyKey: 'k' }],
    ['magicEdit', {}],
    ['regenerate', {}],
    ['update', {}],
  ])('%s with %j is not sent, and the error says so', async (name, input) => {
    const noteId = gateway.sandbox.ids.note(0, 0);
    const { result, errors } = await change(gateway, name, noteId, input);
    expect(result).toBeNull();
    expect(errors).toMatchObject(nothingSent);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('clinicians are not assigned, since other instances could not be informed', async () => {
    const { client, clinician } = gateway.sandbox.ids;
    const { errors } = await gateway.query(`mutation { assignSecondaryClinicians(input: {
      clientId: "${client(0)}", clinicianIds: ["${clinician(1)}"] }) { __typename } }`);
    expect(errors).toMatchObject(nothingSent);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('a record that a grant names is still found', async () => {
    const { clinic, clinician } = gateway.sandbox.ids;
    const grants = [`clinic:${clinic(0)}`, `clinician:${clinician(0)}`];
    const { data, errors } = await gateway.query(
      '{ viewer { clinics { name clients(first: 1) { totalCount } } clinicians { lastName } } }',
      {},
      { authorization: `Bearer ${await tokenFor(grants)}` },
    );
    expect(errors).toBeUndefined();
    expect(data.viewer.clinics[0].name).toEqual(expect.any(String));
    expect(data.viewer.clinicians[0].lastName).toEqual(expect.any(String));
  });

  it('a session is open only if the list of its client holds it', async () => {
    const { clinic, client, session } = gateway.sandbox.ids;
    const authorization = `Bearer ${await tokenFor([`clinic:${clinic(0)}`])}`;
    const noteOf = async (nth: number) => {
      const id = artifactId(gateway, 'ProgressNote', session(nth, 0), client(0));
      const document = 'query($id: ID!) { progressNote(id: $id) { progressNoteId } }';
      const { data } = await gateway.query(document, { id }, { authorization });
      return data.progressNote?.progressNoteId ?? null;
    };
    expect(await noteOf(0)).toBe(gateway.sandbox.ids.note(0, 0));
    expect(await noteOf(1)).toBeNull();
  });

  it('a clinician’s access is checked in lists, so that they can sign in', async () => {
    const { clinic, clinician } = gateway.sandbox.ids;
    const authorization = `Bearer ${await tokenFor([`clinic:${clinic(0)}`])}`;
    const document = `mutation($id: ID!) {
      authenticateClinician(input: { clinicianId: $id }) { is: __typename } }`;
    const { data } = await gateway.query(document, { id: clinician(0) }, { authorization });
    expect(data.authenticateClinician.is).toBe('ClinicianTokens');
  });
});

describe.skipIf(!redisAvailable)('with a store that fails for a while', () => {
  beforeEach(async () => {
    await open();
    gateway.sandbox.resetCounts();
  });
  afterEach(close);

  it('an edit succeeds once the store is back', async () => {
    const noteId = gateway.sandbox.ids.note(0, 0);
    await redis.kill();
    await change(gateway, 'magicEdit', noteId, { idempotencyKey: 'k' });
    await redis.start();
    await expect
      .poll(
        async () =>
          (await change(gateway, 'magicEdit', noteId, { idempotencyKey: 'k' })).result?.type,
      )
      .toBe('ProgressNoteChange');
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it('an edit of a locked note reports that, although the store fails during the call', async () => {
    const held = Promise.withResolvers<void>();
    const locked = { status: 403, body: envelope(403, 'Progress note is locked') };
    gateway.sandbox.answerNext(changes.magicEdit.route, { heldUntil: held.promise, ...locked });
    const noteId = gateway.sandbox.ids.note(0, 0);
    const edit = change(gateway, 'magicEdit', noteId, { idempotencyKey: 'k' });
    await expect.poll(() => countOf(gateway, 'magicEdit')).toBe(1);
    await redis.kill();
    held.resolve();
    expect((await edit).result.type).toBe('ProgressNoteLocked');
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });
});
