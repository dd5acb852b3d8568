import { parse, print } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../sandbox/sandbox.ts';
import { createManualClock } from '../support/access/viewers.ts';
import { type Gateway, DETERMINISTIC, openGateway } from '../support/gateway.ts';
import { callsTo, counted } from '../support/graph/counted.ts';
import { filledIn, pricedQueries } from '../support/graph/priced-queries.ts';

/** Stands still: on a busy machine too, no answer expires and no call times out and is repeated. */
const clock = { ...createManualClock(), after: () => () => undefined };
const env = { LIMIT_OPERATION_MS: '60000' };
let sandbox: Sandbox;
const gateways = new Map<string, Gateway>();
beforeAll(async () => {
  sandbox = await openSandbox({ switches: DETERMINISTIC });
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.close();
  await sandbox.close();
});

async function gatewayFor(name: string): Promise<Gateway> {
  const gateway = gateways.get(name) ?? (await openGateway({ sandbox, clock, env }));
  gateways.set(name, gateway);
  return gateway;
}

const INTRODUCTION = `# What queries cost

The unit of cost is a call to the Partner API. The numbers are counted over the sandbox by
\`test/gateway/cost-table.test.ts\`, which fails if this page differs from what it counts. To write the page again:
\`npm test -- test/gateway/cost-table --update\`.

- _Worst case_ is \`extensions.upstream.estimated\`: computed from the document before anything is read, and usually far above
  the real number. Look-ups by id, retries and searches in lists that have changed are not included.
- _Cold_ is the number of calls with empty caches.
- _Again_ is the same query while the responses are still cached.

In the queries below, \`<clinic 0>\` stands for an id of the sandbox.
`;

const DRIFT = `## Lists that change while they are read

A cursor holds the total of its list and hashes of the ids on its row's page. If the total is different when the next page is
read, or a row that is read anyway is not the expected one, the window moves with the rows, so that no row is repeated or
skipped. This costs no call while nothing has changed.

The rows are searched on the cursor's page, on the page shifted by the change of the total, and up to three pages from both.
If none of the rows on the cursor's page is found there (all of them were removed, or many rows were added and removed before
them), the list continues where that page began.

One case can't be detected without extra calls: **as many rows added as removed between two reads that share no page.** The
total is the same, and no page is read that would show the difference. Reading in steps of ten then repeats or skips as many
rows as moved across a page boundary. To detect it, every step would have to read one more page, which doubles the calls.
Steps that don't end at a page boundary (\`first: 25\`) detect it more often, because the next step reads the cursor's own
page.
`;

const BESIDE = [
  ['Two operations with the same query at the same time', '1 for both'],
  ['The next ten rows after a cursor', '1'],
  ['Ten notes by their global ids (`nodes`)', '10'],
] as const;

/** Aligned like the formatter's output, so that formatting does not change the page. */
function aligned(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((row) => row[at]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line);
}

it('costs what the documentation says', async () => {
  const rows: string[][] = [];
  for (const priced of pricedQueries) {
    const gateway = await gatewayFor(priced.on);
    const document = filledIn(priced, sandbox);
    const cold = await counted(gateway, document);
    const again = await counted(gateway, document);
    const { estimated, cached } = cold.extensions.upstream;
    expect([priced.asks, cold.errors, cached, again.calls]).toEqual([priced.asks, undefined, 0, 0]);
    rows.push([rows.length + 1, priced.asks, estimated, cold.calls, again.calls].map(String));
  }
  const table = aligned(['', '', 'worst case', 'cold', 'again'], rows);
  const beside = aligned(['', 'calls'], BESIDE);
  const queries = pricedQueries.map(
    ({ query }, n) => `${n + 1}.\n\n\`\`\`graphql\n${print(parse(query))}\n\`\`\`\n`,
  );
  const page = [INTRODUCTION, ...table, '', ...beside, '', DRIFT, '## The queries\n', ...queries];
  await expect(page.join('\n')).toMatchFileSnapshot('../../docs/upstream-calls.md');
});

it('makes one call for two operations with the same query at the same time', async () => {
  const gateway = await gatewayFor('beside');
  const before = callsTo(gateway);
  const document = `{ clinic(id: "${sandbox.ids.clinic(1)}") { clients { nodes { email } } } }`;
  const both = await Promise.all([gateway.query(document), gateway.query(document)]);
  const calls = both.map(({ extensions }) => extensions.upstream.calls);
  expect([Math.min(...calls), Math.max(...calls), callsTo(gateway) - before]).toEqual([0, 1, 1]);
});

it('reads one page for the next ten rows, and ten notes in ten calls', async () => {
  const gateway = await gatewayFor('beside');
  const list = `query($after: String) { clinic(id: "${sandbox.ids.clinic(2)}") { clients(first: 10, after: $after) {
    nodes { email } pageInfo { endCursor hasNextPage } } } }`;
  const head = await counted(gateway, list);
  const after = head.data.clinic.clients.pageInfo.endCursor;
  expect((await counted(gateway, list, { after })).calls).toBe(1);
  const sessions = `{ client(id: "${sandbox.ids.client(0)}") { sessions { nodes { progressNote { id } } } } }`;
  const { data } = await gateway.query(sessions);
  const ids = data.client.sessions.nodes.map(
    (node: { progressNote: { id: string } }) => node.progressNote.id,
  );
  const nodes = 'query($ids: [ID!]!) { nodes(ids: $ids) { ... on ProgressNote { note } } }';
  await using fresh = await openGateway({ sandbox, clock, env });
  expect((await counted(fresh, nodes, { ids })).calls).toBe(10);
});
