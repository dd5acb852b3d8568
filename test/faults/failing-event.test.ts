import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { follow } from '../support/faults/follower.ts';
import { cursorNow } from '../support/faults/losses.ts';
import { environmentOf } from '../support/faults/process/process.ts';
import { type Deployment, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { tokenFor } from '../support/gateway.ts';
import { gauge } from '../support/ws/raw-socket.ts';

const root = new URL('../..', import.meta.url).pathname;

/** As an operator runs it, beside a store that no server holds. */
async function quarantine({ sandbox, storeDir }: Deployment, ...args: readonly string[]) {
  const script = ['--disable-warning=ExperimentalWarning', 'scripts/quarantine.ts', ...args];
  const env = environmentOf({ sandbox }, storeDir);
  return (await promisify(execFile)(process.execPath, script, { cwd: root, env })).stdout;
}

it('skips an event that can’t be delivered, and delivers it when it is replayed from quarantine', async () => {
  const [before, failing] = [randomUUID(), randomUUID()];
  const [after, last] = [randomUUID(), randomUUID()];
  const mistake = {
    preload: ['test/support/faults/failing-event.ts'],
    env: { FAILING_NOTE: failing },
  };
  await using deployment = await openDeployment(mistake);
  const [cursor, token] = [await cursorNow(deployment.server.query), await tokenFor(['partner'])];
  const live = follow({ url: deployment.url, after: cursor, token });
  for (const noteId of [before, failing, after])
    expect(await sendOne(deployment.url(), deployment.sandbox, noteId)).toBe(200);
  await live.receives(new Set<string>([before, after]));
  const resumed = follow({ url: deployment.url, after: cursor, token });
  await resumed.receives(new Set([before, after]));
  expect([live.received, resumed.received]).toEqual([
    [before, after],
    [before, after],
  ]);
  expect([live.closeCodes, live.codes, resumed.codes]).toEqual([[], [], []]);
  expect(await gauge(deployment.server, 'events_failed_total')).toBe(1);
  resumed.close();

  await deployment.server.kill();
  const [listed] = [await quarantine(deployment), await quarantine(deployment, 'replay')];
  expect(listed).toContain('progress_note_generated: could not be handled (TypeError)');
  expect(listed).toContain('1 in quarantine');
  await deployment.start({ preload: [] });
  await sendOne(deployment.url(), deployment.sandbox, last);
  await live.receives(new Set([before, after, failing, last]));
  expect(live.received).toEqual([before, after, failing, last]);
  live.close();
}, 120_000);
