import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { follow } from '../support/faults/follower.ts';
import { cursorNow } from '../support/faults/soak/ledger.ts';
import { environmentOf } from '../support/faults/process/process.ts';
import { type Scene, openScene } from '../support/faults/scene.ts';
import { sendOne } from '../support/faults/sender.ts';
import { tokenFor } from '../support/gateway.ts';
import { gauge } from '../support/ws/raw-socket.ts';

const root = new URL('../..', import.meta.url).pathname;

/** As an operator runs it, beside a store that no server holds. */
async function quarantine({ sandbox, storeDir }: Scene, ...args: readonly string[]) {
  const script = ['--disable-warning=ExperimentalWarning', 'scripts/quarantine.ts', ...args];
  const env = environmentOf({ sandbox }, storeDir);
  return (await promisify(execFile)(process.execPath, script, { cwd: root, env })).stdout;
}

it('tells subscribers what follows an event that can’t be sent, and that one when it is replayed', async () => {
  const [before, poison] = [randomUUID(), randomUUID()];
  const [after, last] = [randomUUID(), randomUUID()];
  const mistake = { preload: ['test/support/faults/poison.ts'], env: { POISON: poison } };
  await using scene = await openScene(mistake);
  const [cursor, token] = [await cursorNow(scene.server.query), await tokenFor(['partner'])];
  const live = follow({ url: scene.url, after: cursor, token });
  for (const noteId of [before, poison, after])
    expect(await sendOne(scene.url(), scene.sandbox, noteId)).toBe(200);
  await live.hears(new Set<string>([before, after]));
  const resumed = follow({ url: scene.url, after: cursor, token });
  await resumed.hears(new Set([before, after]));
  expect([live.heard, resumed.heard]).toEqual([
    [before, after],
    [before, after],
  ]);
  expect([live.closeCodes, live.codes, resumed.codes]).toEqual([[], [], []]);
  expect(await gauge(scene.server, 'events_poisonous_total')).toBe(1);
  resumed.close();

  await scene.server.kill();
  const [listed] = [await quarantine(scene), await quarantine(scene, 'replay')];
  expect(listed).toContain('progress_note_generated: could not be handled (TypeError)');
  expect(listed).toContain('1 in quarantine');
  await scene.start({ preload: [] });
  await sendOne(scene.url(), scene.sandbox, last);
  await live.hears(new Set([before, after, poison, last]));
  expect(live.heard).toEqual([before, after, poison, last]);
  live.close();
}, 60_000);
