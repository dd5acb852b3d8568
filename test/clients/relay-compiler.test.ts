import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const schema = new URL('../../schema.graphql', import.meta.url);
const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js');

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'partner-graph-relay-'));
  cpSync(schema, join(project, 'schema.graphql'));
  const config = { src: './src', schema: './schema.graphql', language: 'typescript' };
  writeFileSync(join(project, 'relay.config.json'), JSON.stringify(config));
});
afterAll(() => rmSync(project, { recursive: true }));

/** Compiles one module with these documents. Returns the names of the generated files. */
async function compile(name: string, ...documents: readonly string[]): Promise<readonly string[]> {
  const src = join(project, 'src');
  rmSync(src, { recursive: true, force: true });
  mkdirSync(src);
  const tags = documents.map((document) => `graphql\`${document}\`;`);
  writeFileSync(
    join(src, `${name}.ts`),
    ["import { graphql } from 'relay-runtime';", ...tags].join('\n'),
  );
  await run(process.execPath, [compiler], { cwd: project });
  return readdirSync(join(src, '__generated__'));
}

describe('Relay’s compiler', () => {
  it('accepts a list with @connection, and makes it @refetchable through node', async () => {
    const made = await compile(
      'Clients',
      `fragment Clients_clinic on Clinic @refetchable(queryName: "ClientsPagination")
        @argumentDefinitions(count: { type: "Int", defaultValue: 25 }, cursor: { type: "String" }) {
        name
        clients(first: $count, after: $cursor) @connection(key: "Clients_clients") {
          totalCount edges { node { id firstName status } } } }`,
      'query ClientsQuery($id: ID!) { clinic(id: $id) { ...Clients_clinic } }',
    );
    expect(made).toContain('ClientsPagination.graphql.ts');
  });

  it('accepts a list that is read backwards, with a filter', async () => {
    const made = await compile(
      'Latest',
      `query LatestQuery($id: ID!, $before: String, $filter: ClientFilter) { clinician(id: $id) {
        clients(last: 10, before: $before, filter: $filter) @connection(key: "Latest_clients") {
          edges { node { ...Latest_client } } } } }`,
      `fragment Latest_client on Client @refetchable(queryName: "LatestClient") {
        sessions(first: 1) { edges { node { progressNote { id isLoading note } } } } }`,
    );
    expect(made).toContain('LatestClient.graphql.ts');
  });

  it('accepts every node type in one query, and a subscription', async () => {
    const made = await compile(
      'Whole',
      `query WholeQuery($id: ID!) { node(id: $id) { __typename id
        ... on Organization { name } ... on Clinic { name } ... on Program { name }
        ... on Clinician { email } ... on Client { dateOfBirth } ... on Session { fileUrl }
        ... on ProgressNote { isLocked } ... on Transcript { items { speaker } } ... on MDM { risk }
        ... on Assessment { assessmentId } ... on AssessmentScore { totalScore } ... on MagicEdit { raw } } }`,
      `subscription WholeSubscription($after: EventCursor) { noteReady(after: $after) {
        cursor progressNote { id note } session { id } } }`,
    );
    expect(made).toEqual(
      expect.arrayContaining(['WholeQuery.graphql.ts', 'WholeSubscription.graphql.ts']),
    );
  });

  it('rejects a field that is not in the schema', async () => {
    const refused = compile('Wrong', 'query WrongQuery { organizations { nodes { colour } } }');
    await expect(refused).rejects.toThrow(/colour/);
  });
});
