import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { type Project, createProject } from '../support/clients/project.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';

let project: Project;
let gateway: Gateway;
beforeAll(async () => {
  project = createProject({
    'codegen.json': 'codegen/codegen.json',
    'src/clients.ts': 'codegen/clients.ts',
  });
  await project.run('graphql-codegen', '--config', 'codegen.json');
  gateway = await openGateway();
}, 60_000);
afterAll(async () => {
  await gateway?.close();
  project?.remove();
});

it('generates types that the sample compiles with', async () => {
  await project.run('tsc');
});

it('runs the sample against the gateway', async () => {
  const page = await import(pathToFileURL(`${project.dir}/src/clients.ts`).href);
  const ask = page.createGateway(`${gateway.url}/graphql`, () => tokenFor(['partner']));
  const clinicId = gateway.sandbox.ids.clinic(0);
  const { data } = await gateway.query(
    `query($id: ID!) { clinic(id: $id) {
      clients(first: 1, filter: { status: ACTIVE }) { nodes { lastName dateOfBirth } } } }`,
    { id: clinicId },
  );
  const [client] = data.clinic.clients.nodes;
  expect(await page.bornOn(client.dateOfBirth, clinicId, ask)).toContain(client.lastName);
  const unauthenticated = page.createGateway(`${gateway.url}/graphql`, () => 'not-a-token');
  const refused = page.bornOn(client.dateOfBirth, clinicId, unauthenticated);
  await expect(refused).rejects.toMatchObject({ codes: ['UNAUTHENTICATED'] });
});

it('fails to compile with a value that is not in the schema', async () => {
  project.edit('src/clients.ts', (text) => text.replace("status: 'ACTIVE'", "status: 'ALIVE'"));
  await expect(project.run('tsc')).rejects.toThrow(/"ALIVE"/);
});
