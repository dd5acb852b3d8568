import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';
import { counted } from '../support/graph/counted.ts';

let gateway: Gateway;
/** Lists of all lengths, each as the plain array of its ids. */
let lists: readonly {
  readonly parent: string;
  readonly id: string;
  readonly list: string;
  readonly rows: readonly string[];
}[];
beforeAll(async () => {
  gateway = await openGateway();
  const { ids } = gateway.sandbox;
  const sessions = (client: number, length: number) => ({
    parent: 'client',
    id: ids.client(client),
    list: 'sessions',
    rows: Array.from({ length }, (_, n) => ids.session(client, n)),
  });
  const clients = Array.from({ length: 220 }, (_, n) => ids.client(1_380 + n));
  lists = [
    ...[0, 9, 10, 11, 25].map((length, n) => sessions(25 + n, length)),
    { parent: 'clinic', id: ids.clinic(4), list: 'clients', rows: clients },
  ];
});
afterAll(() => gateway.close());

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
type Json = any;

const size = fc.option(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 100 })));
const asked = fc.record({
  nth: fc.nat({ max: 5 }),
  size,
  fromTail: fc.boolean(),
  after: fc.option(fc.nat({ max: 240 })),
  before: fc.option(fc.nat({ max: 240 })),
});

describe('any window over any list', () => {
  it('returns the same rows as the plain array, for no more calls than it has pages', async () => {
    const cursors = await Promise.all(lists.map(cursorsOf));
    const property = fc.asyncProperty(asked, async ({ nth, size: count, fromTail, ...cuts }) => {
      const { parent, id, list, rows } = lists[nth]!;
      const within = (at: number | null) => (at !== null && at < rows.length ? at : undefined);
      const [after, before] = [within(cuts.after), within(cuts.before)];
      const { data, calls } = await counted(gateway, documentFor(parent, list), {
        id,
        [fromTail && count !== null ? 'last' : 'first']: count,
        after: after === undefined ? null : cursors[nth]![after],
        before: before === undefined ? null : cursors[nth]![before],
      });
      const low = after === undefined ? 0 : after + 1;
      const between = rows.slice(low, Math.max(low, before ?? rows.length));
      const wanted =
        fromTail && count !== null ? between.slice(-count) : between.slice(0, count ?? 10);
      const shown = data[parent][list];
      expect(shown.edges.map(({ node }: Json) => node[`${list.slice(0, -1)}Id`])).toEqual(wanted);
      expect(shown.totalCount).toBe(rows.length);
      const start = wanted.length > 0 ? rows.indexOf(wanted[0]!) : undefined;
      if (start !== undefined) {
        expect(shown.pageInfo.hasPreviousPage).toBe(start > 0);
        expect(shown.pageInfo.hasNextPage).toBe(start + wanted.length < rows.length);
      }
      expect(calls).toBeLessThanOrEqual(Math.max(1, Math.ceil(rows.length / 10)));
    });
    await fc.assert(property, { numRuns: 60, seed: 7 });
  });
});

const documentFor = (parent: string, list: string) =>
  `query($id: ID!, $first: Int, $after: String, $last: Int, $before: String) { ${parent}(id: $id) {
    ${list}(first: $first, after: $after, last: $last, before: $before) { totalCount
      edges { cursor node { ${list.slice(0, -1)}Id } } pageInfo { hasNextPage hasPreviousPage } } } }`;

async function cursorsOf({ parent, id, list, rows }: (typeof lists)[number]): Promise<string[]> {
  const found: string[] = [];
  while (found.length < rows.length) {
    const { data } = await gateway.query(documentFor(parent, list), {
      id,
      first: 100,
      after: found.at(-1),
    });
    found.push(...data[parent][list].edges.map(({ cursor }: Json) => cursor));
  }
  return found;
}
