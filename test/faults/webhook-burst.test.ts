import { randomUUID } from 'node:crypto';

import { Pool } from 'undici';
import { describe, expect, it } from 'vitest';

import { follow } from '../support/faults/follower.ts';
import { lossesIn, cursorNow, logged } from '../support/faults/losses.ts';
import { openDeployment } from '../support/faults/deployment.ts';
import { noteEvent, signed } from '../support/faults/sender.ts';
import { tokenFor } from '../support/gateway.ts';

/** `WEBHOOKS=10000` is the load of the worst ten seconds. Its time limit is for a machine without other tests. */
const WEBHOOKS = Number(process.env['WEBHOOKS'] ?? 400);
const P99_MS = process.env['WEBHOOKS'] ? 250 : 2_500;
const AT_ONCE = 16;

describe('a burst of webhooks', { timeout: 120_000 }, () => {
  it('is accepted completely, in order and without delay, among as many forged ones', async () => {
    await using deployment = await openDeployment();
    const { server, sandbox } = deployment;
    const after = await cursorNow(server.query);
    const follower = follow({ url: deployment.url, after, token: await tokenFor(['partner']) });
    const pool = new Pool(server.url, { connections: AT_ONCE });
    const post = async (body: Buffer, headers: Record<string, string>) => {
      const answer = await pool.request({ method: 'POST', path: '/webhooks', body, headers });
      await answer.body.dump();
      return answer.statusCode;
    };

    const acknowledged = new Set<string>();
    const tookMs: number[] = [];
    let left = WEBHOOKS;
    const send = async (): Promise<void> => {
      while ((left -= 1) >= 0) {
        const noteId = randomUUID();
        const body = noteEvent(sandbox, noteId);
        const forged = post(body, { 'x-signature': 'f'.repeat(64) });
        const sentAt = performance.now();
        expect(await post(body, signed(sandbox, body))).toBe(200);
        tookMs.push(performance.now() - sentAt);
        acknowledged.add(noteId);
        expect(await forged).toBe(401);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE / 2 }, send));
    await pool.close();
    await follower.receives(acknowledged);
    follower.close();

    const stored = await logged(server.query, after);
    expect(lossesIn(acknowledged, stored)).toEqual({ lost: 0, repeated: 0 });
    expect(follower.received).toEqual(stored);
    const p99 = tookMs.toSorted((a, b) => a - b)[Math.floor(WEBHOOKS * 0.99)];
    expect(p99).toBeLessThan(P99_MS);
  });
});
