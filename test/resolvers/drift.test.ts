import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createAdvancingClock } from '../support/access/viewers.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { type Counted, counted } from '../support/graph/counted.ts';

let gateway: Gateway;
let sandbox: Gateway['sandbox'];
const clock = createAdvancingClock();
beforeAll(async () => {
  gateway = await openGateway({ clock });
  ({ sandbox } = gateway);
});
afterAll(() => gateway.close());

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
type Json = any;

/** The first clinician and client of each clinic in the sandbox. */
const CLINICS = [
  { clinician: 14, clinicians: 12, client: 420, clients: 360 },
  { clinician: 26, clinicians: 10, client: 780, clients: 320 },
  { clinician: 36, clinicians: 8, client: 1_100, clients: 280 },
  { clinician: 44, clinicians: 6, client: 1_380, clients: 220 },
] as const;

/** A clinician whose list no other test has touched, and that list as a plain array that follows every change. */
function untouched(nth: number) {
  const clinic = CLINICS.find(({ clinician, clinicians }) => 14 + nth < clinician + clinicians)!;
  const first = clinic.client + 14 + nth - clinic.clinician;
  const rows: string[] = [];
  for (let key = first; key < clinic.client + clinic.clients; key += clinic.clinicians) {
    rows.push(sandbox.ids.client(key));
  }
  const id = sandbox.ids.clinician(14 + nth);
  return {
    id,
    rows,
    add(place: 'head' | 'middle' | 'tail') {
      const at = { head: 0, middle: Math.floor(rows.length / 2), tail: rows.length }[place];
      rows.splice(at, 0, sandbox.addClient(id, place));
    },
    remove(at: number) {
      const [gone] = rows.splice(at, 1);
      if (gone) sandbox.removeClient(gone);
    },
  };
}
type List = ReturnType<typeof untouched>;

const DOCUMENT = `query($id: ID!, $first: Int, $after: String, $last: Int, $before: String) { clinician(id: $id) {
  clients(first: $first, after: $after, last: $last, before: $before) { totalCount nodes { clientId }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

async function step({ id }: List, args: object) {
  const answer: Counted = await counted(gateway, DOCUMENT, { id, ...args });
  expect(answer.errors).toBeUndefined();
  const { nodes, pageInfo, totalCount } = answer.data.clinician.clients;
  const rows: string[] = nodes.map(({ clientId }: Json) => clientId);
  return { rows, pageInfo, totalCount, calls: answer.calls };
}

/** Longer than a page is cached. */
const EXPIRED = 6_000;

describe('between two pages of a traversal', () => {
  it('returns a row that was added after the cursor at its position', async () => {
    const list = untouched(16);
    const head = await step(list, { first: 10 });
    list.add('middle');
    const rest = await step(list, { first: 100, after: head.pageInfo.endCursor });
    expect(rest.rows).toEqual(list.rows.slice(10));
  });

  it('continues from the end as soon as the total is read again', async () => {
    const list = untouched(17);
    await step(list, { last: 3 });
    list.add('tail');
    const { rows } = await step(list, { last: 15 });
    expect(rows).toEqual(list.rows.slice(-15));
  });

  it('repeats no row when one was added and another removed', async () => {
    const list = untouched(19);
    await step(list, { first: 10 });
    list.add('head');
    list.remove(list.rows.length - 1);
    const { rows, calls } = await step(list, { first: 20 });
    expect(rows).toEqual(list.rows.slice(0, 20));
    expect(calls).toBe(2);
  });

  it('searches for moved rows without the cache', async () => {
    const list = untouched(20);
    const tail = await step(list, { last: list.rows.length - 15 });
    clock.advance(EXPIRED);
    await step(list, { first: 10 });
    for (let moved = 0; moved < 6; moved += 1) {
      list.remove(0);
      list.add('tail');
    }
    const { rows } = await step(list, { last: 3, before: tail.pageInfo.startCursor });
    expect(rows).toEqual(list.rows.slice(6, 9));
  });

  it('skips no row when a page from before a change of the same length is cached', async () => {
    const list = untouched(21);
    const head = await step(list, { first: 15 });
    clock.advance(EXPIRED);
    await step(list, { last: 10 });
    list.add('head');
    list.remove(list.rows.length - 1);
    const { rows, calls } = await step(list, { first: 10, after: head.pageInfo.endCursor });
    expect(rows).toEqual(list.rows.slice(16, 26));
    expect(calls).toBe(2);
  });

  it('reads each page once for several windows, also the one where the cursor was', async () => {
    const list = untouched(18);
    const head = await step(list, { first: 10 });
    list.remove(3);
    const window = `clients(first: 20, after: "${head.pageInfo.endCursor}") { nodes { clientId } }`;
    const aliases = ['a', 'b', 'c'].map((name) => `${name}: ${window}`).join(' ');
    const { data, calls } = await counted(
      gateway,
      `{ clinician(id: "${list.id}") { ${aliases} } }`,
    );
    const nodes = list.rows.slice(9, 29).map((clientId) => ({ clientId }));
    expect(data.clinician).toEqual({ a: { nodes }, b: { nodes }, c: { nodes } });
    expect(calls).toBe(3);
  });
});

it('keeps the length of a later page although an earlier call for another page is answered last', async () => {
  const list = untouched(0);
  const LIST = 'GET /clinicians/:id/clients';
  const { data } = await gateway.query(
    'query($id: ID!) { clinician(id: $id) { clients { totalCount nodes { raw } } } }',
    { id: list.id },
  );
  const { nodes, totalCount: totalItems } = data.clinician.clients;
  const meta = { totalItems, totalPages: Math.ceil(totalItems / 10), currentPage: 1 };
  const body = { data: nodes.map(({ raw }: Json) => raw), meta };
  clock.advance(EXPIRED);
  sandbox.resetCounts();
  const answer = Promise.withResolvers<void>();
  sandbox.answerNext(LIST, { heldUntil: answer.promise, body });
  const slow = gateway.query(DOCUMENT, { id: list.id, first: 10 });
  await expect.poll(() => sandbox.countOf(LIST)).toBe(1);
  list.add('tail');
  expect((await step(list, { last: 3 })).rows).toEqual(list.rows.slice(-3));
  answer.resolve();
  await slow;
  expect((await step(list, { first: 10 })).totalCount).toBe(list.rows.length);
});

const added = fc.record({
  add: fc.array(fc.constantFrom('head', 'middle', 'tail'), { minLength: 1, maxLength: 3 }),
});
const removed = fc.record({
  remove: fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 3 }),
});
// A list that grows or one that shrinks: equal numbers added and removed can't be detected without reading one page more.
const walks = fc.record({
  size: fc.integer({ min: 3, max: 15 }),
  changes: fc.oneof(
    fc.array(fc.option(added), { maxLength: 6 }),
    fc.array(fc.option(removed), { maxLength: 6 }),
  ),
});

describe('any traversal of a changing list', () => {
  it('returns every row that stays exactly once, and none twice', async () => {
    let nth = 22;
    const property = fc.asyncProperty(walks, async ({ size, changes }) => {
      const list = untouched(nth++);
      const stays = new Set(list.rows);
      const seen: string[] = [];
      let args: object = { first: size };
      for (let at = 0; ; at += 1) {
        const { rows, pageInfo } = await step(list, args);
        seen.push(...rows);
        if (!pageInfo.hasNextPage) break;
        apply(changes[at] ?? {}, list);
        for (const row of stays) if (!list.rows.includes(row)) stays.delete(row);
        args = { first: size, after: pageInfo.endCursor };
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect([...stays].filter((row) => !seen.includes(row))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 14, seed: 11, endOnFailure: true });
  });
});

function apply(
  change: { add?: readonly ('head' | 'middle' | 'tail')[]; remove?: readonly number[] },
  list: List,
) {
  for (const place of change.add ?? []) list.add(place);
  for (const at of change.remove ?? []) list.remove(at % list.rows.length);
}
