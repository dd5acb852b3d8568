import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { onTestFinished, expect, it } from 'vitest';

import { createProject } from '../support/clients/project.ts';

/** What the sample of relay.test.ts does not use. */
const DOCUMENTS = [
  `query pageLatestQuery($id: ID!, $before: String, $filter: ClientFilter) { clinician(id: $id) {
    clients(last: 10, before: $before, filter: $filter) @connection(key: "page_clients") {
      edges { node { ...page_client } } } } }`,
  `fragment page_client on Client @refetchable(queryName: "pageClientQuery") {
    sessions(first: 1) { edges { node { progressNote { id isLoading note } } } } }`,
  `query pageNodeQuery($id: ID!) { node(id: $id) { __typename id
    ... on Organization { name } ... on Clinic { name } ... on Program { name }
    ... on Clinician { email } ... on Client { dateOfBirth } ... on Session { fileUrl }
    ... on ProgressNote { isLocked } ... on Transcript { items { speaker } } ... on MDM { risk }
    ... on Assessment { assessmentId } ... on AssessmentScore { totalScore } ... on MagicEdit { raw } } }`,
];

it('compiles a list that is read backwards, a client refetched by id, and a node of every type', async () => {
  const project = createProject({ 'relay.config.json': 'relay/relay.config.json' });
  onTestFinished(() => project.remove());
  const src = join(project.dir, 'src');
  mkdirSync(src);
  const tags = DOCUMENTS.map((document) => `graphql\`${document}\`;`);
  const page = ["import { graphql } from 'relay-runtime';", ...tags].join('\n');
  writeFileSync(join(src, 'page.ts'), page);
  await project.run('relay-compiler');
  expect(readdirSync(join(src, '__generated__'))).toEqual(
    expect.arrayContaining(['pageClientQuery.graphql.ts', 'pageNodeQuery.graphql.ts']),
  );
});
