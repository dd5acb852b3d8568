import { randomUUID } from 'node:crypto';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { createRunOnce } from '../../../src/store/idempotency.ts';
import { follow } from '../../support/faults/follower.ts';
import { lossesIn, cursorNow, logged } from '../../support/faults/losses.ts';
import { type Deployment, openDeployment } from '../../support/faults/deployment.ts';
import { sendOne, startSender } from '../../support/faults/sender.ts';
import { post, tokenFor } from '../../support/gateway.ts';
import { changes } from '../../support/mutation/edits.ts';
import { DAY_MS, engines, eventOf } from '../../support/store/engines.ts';
import { until } from '../../support/ws/raw-socket.ts';

const MINUTE_MS = 60_000;
const JUMPS_MS = [10 * MINUTE_MS, -10 * MINUTE_MS, DAY_MS, -DAY_MS];

/** The server's time, as in its last log line. */
const timeIn = ({ server }: Deployment): number =>
  Date.parse(/"time":"([^"]+)"/.exec(server.stdout.at(-1) ?? '')?.[1] ?? '');

describe('a wall clock that jumps while the server runs', () => {
  it('loses and repeats no event, no edit and no token, and closes no socket', async () => {
    const env = { CLOCK_JUMPS_MS: JUMPS_MS.join(','), EVENT_RETENTION_HOURS: '1' };
    await using deployment = await openDeployment({
      preload: ['test/support/faults/process/jump-clock.ts'],
      env,
    });
    const { sandbox, server, url } = deployment;
    // Valid for longer than any jump, since tokens expire by the wall clock.
    const token = await tokenFor(['partner'], { expiresInSeconds: 10 * 86_400 });
    const ask = (query: string, variables?: object) =>
      post(server.url, { query, variables }, { authorization: `Bearer ${token}` });
    const input = {
      progressNoteId: sandbox.ids.note(0, 0),
      idempotencyKey: randomUUID(),
      ...changes.magicEdit.input,
    };
    const edit = async () => (await ask(changes.magicEdit.document, { input })).data.result.type;

    const [after, known] = [await cursorNow(ask), randomUUID()];
    const follower = follow({ url, after, token });
    const sender = startSender({ url, sandbox, writers: 2 });
    expect([await edit(), await sendOne(url(), sandbox, known)]).toEqual([
      'ProgressNoteChange',
      200,
    ]);
    for (const jumpMs of JUMPS_MS) {
      server.signal('SIGUSR2');
      await until(async () => {
        await ask('{ viewer { subject } }');
        return Math.abs(timeIn(deployment) - Date.now() - jumpMs) < MINUTE_MS;
      }, 100);
      await sender.more(20);
      expect([await edit(), await sendOne(url(), sandbox, known)]).toEqual([
        'ProgressNoteChange',
        200,
      ]);
      expect((await ask('{ organizations { nodes { name } } }')).errors).toBeUndefined();
    }
    await sender.stop();
    const all = new Set([...sender.acknowledged, known]);
    await follower.receives(all);
    follower.close();
    expect(lossesIn(all, follower.received)).toEqual({ lost: 0, repeated: 0 });
    expect(lossesIn(all, await logged(ask, after))).toEqual({ lost: 0, repeated: 0 });
    expect([follower.codes, follower.connections, sender.refusals]).toEqual([[], 1, 0]);
    expect(sandbox.countOf(changes.magicEdit.route)).toBe(1);
    expect(sandbox.countOf('POST /partners/authenticate')).toBe(1);
  }, 120_000);

  it.each(engines)('frees no key and trims no event early ($name)', async ({ create }) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const began = Date.now();
    await using engine = await create();
    const [store] = await engine.open(1, { retentionMs: 3_600_000 });
    const runOnce = createRunOnce(store.keys);
    expect(await runOnce('key', 'fingerprint', async () => 'first')).toBe('first');
    await store.log.append([eventOf('a')]);
    for (const jumpMs of JUMPS_MS.map((ms) => 8 * ms)) {
      vi.setSystemTime(began + jumpMs);
      await store.log.trim();
      expect(await runOnce('key', 'fingerprint', async () => 'again')).toBe('first');
      expect(await store.log.append([eventOf('a')])).toEqual([0]);
      expect((await store.log.read(0, 10)).events).toHaveLength(1);
    }
  });
});
