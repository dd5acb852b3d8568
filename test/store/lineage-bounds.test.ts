import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { flatLinks } from '../../src/store/sqlite/flat-links.ts';
import { lineageStatements } from '../../src/store/sqlite/lineage-statements.ts';
import { prepareDatabase } from '../../src/store/sqlite/schema.ts';
import { LINEAGE_KEPT_MS } from '../../src/store/lineage-store.ts';
import { addressOf } from '../../src/store/redis/address.ts';
import { connect } from '../../src/store/redis/connection.ts';
import { createRedisLineage, trimLineage } from '../../src/store/redis/lineage.ts';
import { createUnwrittenLinks } from '../../src/store/unwritten-links.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { range } from '../support/store/engines.ts';

const linksSeenAt = (seenAt: (n: number) => number, count: number) =>
  range(1, count).map((n) => ({ child: `client:${n}`, parent: 'clinic:1', seenAt: seenAt(n) }));

const childrenOf = (count: number) => range(1, count).map((n) => `client:${n}`);

function openLineage(maxLinks: number) {
  const db = new DatabaseSync(':memory:');
  prepareDatabase(db);
  return lineageStatements(db, maxLinks);
}

describe('the embedded lineage in the background', () => {
  it('forgets what was not seen for three months', () => {
    const lineage = openLineage(10_000);
    const links = linksSeenAt((n) => (n % 2 ? 0 : LINEAGE_KEPT_MS), 1_200);
    lineage.writeLinks(flatLinks(links));
    for (const _ of range(1, 3)) lineage.trimLinks(LINEAGE_KEPT_MS + 1);
    const known = lineage.parentsOf(childrenOf(1_200)).filter(({ length }) => length > 0);
    expect(known).toHaveLength(600);
  });

  it('keeps to its bound, and keeps what was seen last', () => {
    const lineage = openLineage(1_000);
    // Every tenth is read again and again.
    const links = linksSeenAt((n) => (n % 10 ? n : 1_000_000), 4_000);
    lineage.writeLinks(flatLinks(links));
    while (lineage.trimLinks(1_000_000));
    const parents = lineage.parentsOf(childrenOf(4_000));
    const known = parents.flatMap(({ length }, at) => (length > 0 ? at + 1 : []));
    expect(known.length).toBeLessThanOrEqual(1_000);
    expect(known.filter((n) => n % 10 === 0)).toHaveLength(400);
  });
});

describe.skipIf(!redisAvailable)('the lineage on Redis in the background', () => {
  it('keeps to its bound and its age, and to the same children on both sides', async () => {
    await using server = await startRedis();
    const connection = await connect(addressOf(server.url));
    const lineage = createRedisLineage(connection);
    await lineage.write(linksSeenAt((n) => LINEAGE_KEPT_MS + n, 400));
    await trimLineage(connection, LINEAGE_KEPT_MS * 2 + 51, 10_000);
    expect(Number(server.cli('ZCARD', '{partner-graph}:lineage'))).toBe(350);
    await trimLineage(connection, LINEAGE_KEPT_MS, 30);
    const known = (await lineage.parentsOf(childrenOf(400))).filter(({ length }) => length > 0);
    expect(known).toHaveLength(30);
    expect(await lineage.childrenOf('clinic:1', 'client')).toHaveLength(30);
    await connection.close();
  });
});

describe('links that can not be written', () => {
  it('are bounded, the oldest given up first', () => {
    const unwritten = createUnwrittenLinks();
    for (const link of linksSeenAt((n) => n, 50_001)) unwritten.set(link);
    expect(unwritten.size).toBe(50_000);
    expect(unwritten.over('client:1', [])).toEqual([]);
    expect(unwritten.over('client:50001', [])).toHaveLength(1);
  });

  it('stay until they are written as they are now', () => {
    const unwritten = createUnwrittenLinks();
    const [link] = linksSeenAt(() => 1, 1);
    if (!link) throw new Error('one link is wanted');
    unwritten.set(link);
    expect(unwritten.begin()).toEqual([link]);
    unwritten.set({ child: link.child, parent: link.parent, isGone: true });
    unwritten.end(true);
    expect(unwritten.over('client:1', [link])).toEqual([]);
    unwritten.begin();
    unwritten.end(true);
    expect(unwritten.over('client:1', [link])).toEqual([link]);
  });

  it('wait on where a write failed, under what has changed meanwhile', () => {
    const unwritten = createUnwrittenLinks();
    const [first, second] = linksSeenAt(() => 1, 2);
    if (!first || !second) throw new Error('two links are wanted');
    unwritten.set(first);
    unwritten.set(second);
    unwritten.begin();
    const removed = { child: first.child, parent: first.parent, isGone: true } as const;
    unwritten.set(removed);
    unwritten.end(false);
    expect(unwritten.begin()).toEqual([removed, second]);
  });
});
