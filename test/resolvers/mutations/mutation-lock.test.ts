import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import { allChanges, change, countOf } from '../../support/mutation/edits.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';

async function isLocked(gateway: Gateway, id: string): Promise<boolean | null> {
  const document = 'query($id: ID!) { progressNote(id: $id) { isLocked } }';
  return (await gateway.query(document, { id })).data.progressNote.isLocked;
}

describe('a finalized note', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await openGateway();
  });
  afterAll(() => gateway.close());

  it.each(allChanges)(
    'answers ProgressNoteLocked to %s, sent once, and is reported as locked from then on',
    async (name) => {
      const noteId = gateway.sandbox.ids.note(allChanges.indexOf(name), 5);
      expect(await isLocked(gateway, noteId)).toBeNull();
      expect((await change(gateway, name, noteId)).result).toEqual({
        type: 'ProgressNoteLocked',
        message: 'The progress note is locked.',
      });
      expect(countOf(gateway, name)).toBe(1);
      expect(await isLocked(gateway, noteId)).toBe(true);
      expect(await isLocked(gateway, gateway.sandbox.ids.note(0, 6))).toBeNull();
    },
  );

  it('is reported as locked after its event, whatever event arrives late', async () => {
    const { sandbox } = gateway;
    const noteId = sandbox.ids.note(0, 0);
    expect(await isLocked(gateway, noteId)).toBeNull();
    sandbox.finalize(noteId);
    await sandbox.delivered();
    expect(await isLocked(gateway, noteId)).toBe(true);
    const [finalized] = sandbox.events;
    if (finalized) sandbox.emit({ ...finalized, eventType: 'progress_note_generated' });
    await sandbox.delivered();
    expect(await isLocked(gateway, noteId)).toBe(true);
  });

  it('stays locked over a restart, by response and by event', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
    const { sandbox } = gateway;
    const [byResponse, byEvent] = [sandbox.ids.note(3, 5), sandbox.ids.note(3, 0)];
    {
      await using first = await openGateway({ sandbox, storeDir });
      sandbox.deliverTo(`${first.url}/webhooks`);
      await change(first, 'magicEdit', byResponse);
      sandbox.finalize(byEvent);
      await sandbox.delivered();
    }
    await using second = await openGateway({ sandbox, storeDir });
    expect(await isLocked(second, byResponse)).toBe(true);
    expect(await isLocked(second, byEvent)).toBe(true);
    rmSync(storeDir, { recursive: true, force: true });
  });
});

describe.skipIf(!redisAvailable)('a finalized note, over two instances', () => {
  it('is locked on the other one, by response and by event', async () => {
    await using redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    await using one = await openGateway({ env });
    await using two = await openGateway({ env, sandbox: one.sandbox });
    const [byResponse, byEvent] = [one.sandbox.ids.note(0, 5), one.sandbox.ids.note(0, 0)];
    expect(await isLocked(two, byResponse)).toBeNull();
    await change(one, 'regenerate', byResponse);
    expect(await isLocked(two, byResponse)).toBe(true);

    expect(await isLocked(two, byEvent)).toBeNull();
    one.sandbox.finalize(byEvent);
    await one.sandbox.delivered();
    expect(await isLocked(two, byEvent)).toBe(true);
  });
});
