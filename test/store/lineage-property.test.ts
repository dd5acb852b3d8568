import { expect, it } from 'vitest';

import type { LineageEngine, Link, LinkChange, LinkEnds } from '../../src/store/lineage-store.ts';
import { createRandom } from '../../sandbox/data/random.ts';
import { isGone } from '../../src/store/lineage-store.ts';
import { createLineage } from '../../src/store/lineage.ts';

const ROUNDS = 60;
const STEPS = 120;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** An engine as slow and as unreliable as a store can be; like one connection, it does one thing after another. */
function createSlowEngine(below: (n: number) => number) {
  const kept = new Map<string, Map<string, Link>>();
  let last: Promise<unknown> = Promise.resolve();
  let failures = 0;

  function inOrder<T>(work: () => T): Promise<T> {
    const done = last.then(async () => {
      for (let turns = below(3); turns > 0; turns -= 1) await turn();
      return work();
    });
    last = done.catch(() => undefined);
    return done;
  }

  function write(change: LinkChange): void {
    const ofChild = kept.get(change.child) ?? new Map<string, Link>();
    kept.set(change.child, ofChild);
    if (isGone(change)) ofChild.delete(change.parent);
    else ofChild.set(change.parent, change);
  }

  const parents = (child: string) => [...(kept.get(child)?.values() ?? [])];
  const engine: LineageEngine = {
    write: (changes) =>
      inOrder(() => {
        if (failures > 0) {
          failures -= 1;
          throw new Error('down');
        }
        for (const change of changes) write(change);
      }),
    parentsOf: (children) => inOrder(() => children.map(parents)),
    childrenOf: (parent, kind) =>
      inOrder(() =>
        [...kept.keys()].filter(
          (child) => child.startsWith(`${kind}:`) && kept.get(child)?.has(parent),
        ),
      ),
  };
  return { engine, parents, fail: (times: number) => (failures = times) };
}

const namesOf = (links: readonly LinkEnds[]) => links.map(({ parent }) => parent).toSorted();

it.each(Array.from({ length: ROUNDS }, (_, seed) => seed))(
  'the lineage says what was told last, whatever is being written: %i',
  async (seed) => {
    const { below } = createRandom(seed);
    const { engine, parents, fail } = createSlowEngine(below);
    const lineage = createLineage(engine, { maxAgeMs: below(2) * 60_000 });
    const told = new Map<string, Set<string>>();
    const wanted = (child: string) => [...(told.get(child) ?? [])].toSorted();
    const anyChild = () => `client:${below(8)}`;
    const anyParent = () => `clinic:${below(4)}`;

    function tell(): void {
      const links = Array.from({ length: 1 + below(4) }, () => ({
        child: anyChild(),
        parent: anyParent(),
        seenAt: 1,
      }));
      const areGone = below(3) === 0;
      for (const { child, parent } of links) {
        const ofChild = told.get(child) ?? new Set();
        told.set(child, areGone ? (ofChild.delete(parent), ofChild) : ofChild.add(parent));
      }
      if (areGone) lineage.remove(links);
      else lineage.record(links);
    }

    async function readParents(): Promise<void> {
      const child = anyChild();
      const [links = []] = await lineage.parentsOf([child]);
      expect(namesOf(links)).toEqual(wanted(child));
    }

    async function readChildren(): Promise<void> {
      const parent = anyParent();
      const children = [...told.keys()].filter((child) => told.get(child)?.has(parent));
      const found = await lineage.childrenOf(parent, 'client');
      expect(found.toSorted()).toEqual(children.toSorted());
    }

    /** What is told while the answer is on its way must be in memory afterwards. */
    async function tellWhileReading(): Promise<void> {
      const child = anyChild();
      const answer = lineage.parentsOf([child]);
      if (below(2) === 0) await turn();
      tell();
      await answer;
      const known = lineage.known(child);
      if (known) expect(namesOf(known)).toEqual(wanted(child));
    }

    const acts: (() => void | Promise<void>)[] = [
      tell,
      tell,
      tell,
      readParents,
      readChildren,
      tellWhileReading,
      turn,
    ];
    for (let step = 0; step < STEPS; step += 1) {
      await acts[below(acts.length)]!();
      if (below(12) === 0) lineage.flush().catch(() => undefined);
      if (below(40) === 0) fail(2);
    }
    fail(0);
    await lineage.flush().catch(() => undefined);
    await lineage.flush();
    for (const child of told.keys()) expect(namesOf(parents(child))).toEqual(wanted(child));
  },
);

it('writes what is told while the rest is being written, too', async () => {
  const { engine, parents } = createSlowEngine(() => 2);
  const lineage = createLineage(engine, { maxAgeMs: 0 });
  lineage.record([{ child: 'client:1', parent: 'clinic:1', seenAt: 1 }]);
  const flushed = lineage.flush();
  await turn();
  lineage.record([{ child: 'client:2', parent: 'clinic:1', seenAt: 1 }]);
  await flushed;
  expect(parents('client:2')).toHaveLength(1);
});
