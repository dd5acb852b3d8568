import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Link } from '../../src/store/lineage-store.ts';
import { DAY_MS, engines, range } from '../support/store/engines.ts';
import type { Engine } from '../support/store/engines.ts';

const link = (child: string, parent: string, more: Partial<Link> = {}): Link => ({
  child,
  parent,
  seenAt: 1_000,
  ...more,
});

describe.each(engines)('the $name lineage', ({ create }) => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await create();
  });
  afterEach(() => engine[Symbol.asyncDispose]());

  it('answers with what was recorded a moment ago, written or not', async () => {
    const [{ lineage }] = await engine.open();
    const links = [link('client:1', 'clinic:1', { page: 3 }), link('client:1', 'clinician:1')];
    lineage.record(links);
    expect(await lineage.parentsOf(['client:1', 'client:2'])).toEqual([links, []]);
    await lineage.flush();
    expect(await lineage.parentsOf(['client:1', 'client:2'])).toEqual([links, []]);
  });

  it('remembers over a restart, what was recorded just before it included', async () => {
    const [{ lineage }] = await engine.open();
    lineage.record([link('note:1', 'session:1', { page: 0 })]);
    const { lineage: again } = await engine.reopen();
    expect(await again.parentsOf(['note:1'])).toEqual([[link('note:1', 'session:1', { page: 0 })]]);
    expect(await again.childrenOf('session:1', 'note')).toEqual(['note:1']);
  });

  it('forgets a link that was removed, and no other', async () => {
    const [{ lineage }] = await engine.open();
    lineage.record([link('client:1', 'clinician:1'), link('client:1', 'clinician:2')]);
    await lineage.flush();
    lineage.remove([{ child: 'client:1', parent: 'clinician:1' }]);
    const left = [[link('client:1', 'clinician:2')]];
    expect(await lineage.parentsOf(['client:1'])).toEqual(left);
    expect(await lineage.childrenOf('clinician:1', 'client')).toEqual([]);
    const { lineage: again } = await engine.reopen();
    expect(await again.parentsOf(['client:1'])).toEqual(left);
  });

  it('keeps the page a list told when an event only tells the link', async () => {
    const [{ lineage }] = await engine.open();
    lineage.record([link('client:1', 'clinic:1', { page: 7 })]);
    await lineage.flush();
    lineage.record([link('client:1', 'clinic:1', { seenAt: 2_000 })]);
    await lineage.flush();
    const { lineage: again } = await engine.reopen();
    const joined = link('client:1', 'clinic:1', { page: 7, seenAt: 2_000 });
    expect(await again.parentsOf(['client:1'])).toEqual([[joined]]);
  });

  it('never makes a link look older than it was seen', async () => {
    const [{ lineage }] = await engine.open();
    lineage.record([link('client:1', 'clinic:1', { seenAt: 2_000 })]);
    await lineage.flush();
    lineage.record([link('client:1', 'clinic:1', { seenAt: 1_500 })]);
    await lineage.flush();
    const { lineage: again } = await engine.reopen();
    expect((await again.parentsOf(['client:1']))[0]?.[0]?.seenAt).toBe(2_000);
  });

  it('takes back what it answered from memory when anything but the time of a link changes', async () => {
    const [{ lineage }] = await engine.open();
    const keptAfter = async (...links: Link[]) => {
      lineage.record(links);
      await lineage.parentsOf(['client:1']);
      return lineage.kept('client:1');
    };
    const first = await keptAfter(link('client:1', 'clinic:1'));
    expect(await keptAfter(link('client:1', 'clinic:1', { seenAt: 2_000 }))).toBe(first);
    expect(first).toMatchObject({ valid: true, value: [{ seenAt: 2_000 }] });
    const second = await keptAfter(link('client:1', 'clinic:2', { seenAt: 3_000 }));
    expect([first?.valid, second?.valid]).toEqual([false, true]);
    // Which of them was seen last decides what is answered.
    await keptAfter(link('client:1', 'clinic:1', { seenAt: 4_000 }));
    expect(second?.valid).toBe(false);
    const third = lineage.kept('client:1');
    lineage.remove([{ child: 'client:1', parent: 'clinic:1' }]);
    expect(third?.valid).toBe(false);
  });

  it('lists children of one kind, the hundred last seen', async () => {
    const [{ lineage }] = await engine.open();
    const clients = range(1, 150).map((n) => link(`client:${n}`, 'clinic:1', { seenAt: n }));
    lineage.record([...clients, link('clinician:1', 'clinic:1')]);
    await lineage.flush();
    const children = await lineage.childrenOf('clinic:1', 'client');
    expect(children).toEqual(range(51, 150).map((n) => `client:${n}`));
    expect(await lineage.childrenOf('clinic:1', 'clinician')).toEqual(['clinician:1']);
  });

  it('answers many children at once, each its own', async () => {
    const [{ lineage }] = await engine.open();
    lineage.record(range(1, 2_000).map((n) => link(`session:${n}`, `client:${n % 10}`)));
    await lineage.flush();
    const { lineage: again } = await engine.reopen({ clock: () => DAY_MS });
    const parents = await Promise.all(
      range(1, 2_000).map((n) => again.parentsOf([`session:${n}`])),
    );
    expect(parents.map((of) => of[0]?.[0]?.parent)).toEqual(
      range(1, 2_000).map((n) => `client:${n % 10}`),
    );
  });

  it('shows one instance what another has learnt', async () => {
    const [one, , three] = await engine.open(3);
    expect(await three?.lineage.parentsOf(['note:1'])).toEqual([[]]);
    one.lineage.record([link('note:1', 'session:1')]);
    await one.lineage.flush();
    expect(await three?.lineage.parentsOf(['note:1'])).toEqual([[link('note:1', 'session:1')]]);
  });
});
