import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { type Gateway, QUIET, openGateway } from '../../support/gateway.ts';
import { openSandbox } from '../../../sandbox/sandbox.ts';
import { clientOf, cursorNow, hear } from '../../support/ws/graphql-client.ts';

const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
afterAll(() => rmSync(storeDir, { recursive: true, force: true }));

const EVENTS = `subscription($after: EventCursor) {
  events(after: $after) { cursor ... on ProgressNoteEvent { progressNote { isLoading } } } }`;

const cursorOf = ({ data }: { data?: { events: { cursor: string } } }): string =>
  data!.events.cursor;

/** Every cursor after `after`, in the log's own order. */
async function logged(gateway: Gateway, after: string, count: number): Promise<string[]> {
  await using heard = hear(clientOf(gateway), EVENTS, { after });
  return (await heard.take(count)).map(cursorOf);
}

describe('resuming by a cursor', () => {
  it('misses nothing and repeats nothing while events pour in', async () => {
    await using gateway = await openGateway();
    const after = await cursorNow(gateway);
    const got: string[] = [];
    // Four clients in a row, each taking over where the one before has left.
    for (let round = 0; round < 4; round += 1) {
      gateway.sandbox.burst(60);
      await using heard = hear(clientOf(gateway), EVENTS, { after: got.at(-1) ?? after });
      got.push(...(await heard.take(40)).map(cursorOf));
      gateway.sandbox.burst(40);
    }
    await gateway.sandbox.delivered();
    expect(got).toHaveLength(160);
    expect(got).toEqual(await logged(gateway, after, 160));
    expect(new Set(got).size).toBe(160);
  });

  it('goes on after a restart with what came while nobody was there', async () => {
    const sandbox = await openSandbox({ switches: QUIET });
    const open = async (): Promise<Gateway> => {
      const gateway = await openGateway({ sandbox, storeDir });
      sandbox.deliverTo(`${gateway.url}/webhooks`);
      return gateway;
    };
    const before = await open();
    const after = await cursorNow(before);
    const heard = hear(clientOf(before), EVENTS, { after });
    sandbox.burst(20);
    const first = (await heard.take(20)).map(cursorOf);
    const ended = heard.next().catch((error: unknown) => error);
    await before.close();
    expect(await ended).toMatchObject({ code: 1001 });

    sandbox.deliverTo(undefined);
    sandbox.burst(20);
    await using gateway = await open();
    await using again = hear(clientOf(gateway), EVENTS, { after: first.at(-1) });
    sandbox.burst(20);
    const second = (await again.take(40)).map(cursorOf);
    expect([...first, ...second]).toEqual(await logged(gateway, after, 60));
    await sandbox.close();
  });

  it('executes what many replay together once', async () => {
    await using gateway = await openGateway();
    const after = await cursorNow(gateway);
    gateway.sandbox.burst(40);
    await gateway.sandbox.delivered();
    gateway.sandbox.resetCounts();
    const all = Array.from({ length: 10 }, () => hear(clientOf(gateway), EVENTS, { after }));
    await Promise.all(all.map((heard) => heard.take(40)));
    expect(gateway.sandbox.countOf('GET /progress-notes/:progressNoteId')).toBe(20);
    await Promise.all(all.map((heard) => heard[Symbol.asyncDispose]()));
  });

  it('fetches ahead of what is delivered, side by side', async () => {
    await using gateway = await openGateway({ switches: { latencyMs: 20 } });
    const after = await cursorNow(gateway);
    gateway.sandbox.burst(40);
    await gateway.sandbox.delivered();
    await using heard = hear(clientOf(gateway), EVENTS, { after });
    await heard.take(40);
    expect(gateway.sandbox.mostAtOnce()).toBeGreaterThan(4);
  });
});
