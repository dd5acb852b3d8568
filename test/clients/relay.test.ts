import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Environment } from 'relay-runtime';
import { type Project, createProject } from '../support/clients/project.ts';
import { type Restarting, logged, openRestarting } from '../support/clients/restarts.ts';
import { createTally } from '../support/clients/tally.ts';
import { tokenFor } from '../support/gateway.ts';

/** The exports of the compiled page that are used here. */
interface Page {
  createEnvironment(
    url: string,
    token: () => Promise<string>,
  ): { environment: Environment; close(): void };
  openClinic(environment: Environment, clinicId: string): Promise<OpenClinic>;
  subscribeToNotes(
    environment: Environment,
    after: string,
    onNote: (note: { cursor: string }) => void,
    onError: (error: Error) => void,
  ): { dispose(): void };
}

interface OpenClinic {
  readonly eventCursor: string;
  read(): {
    readonly name: string;
    readonly clients: {
      readonly totalCount: number;
      readonly edges: readonly { readonly node: { readonly id: string } }[];
    };
  };
  loadNext(count: number): Promise<unknown>;
  refetch(): Promise<unknown>;
}

let project: Project;
let gateway: Restarting;
let page: Page;
let relay: ReturnType<Page['createEnvironment']>;
beforeAll(async () => {
  project = createProject({
    'relay.config.json': 'relay/relay.config.json',
    'src/resume.ts': 'resume.ts',
    'src/relay/environment.ts': 'relay/environment.ts',
    'src/relay/clients.ts': 'relay/clients.ts',
  });
  await project.run('relay-compiler');
  await project.run('tsc');
  // What Relay's plugin for babel, swc or vite does: a tagged query becomes the module compiled from it.
  project.edit('src/relay/clients.ts', (text) =>
    text.replace(
      /graphql`\s*(?:query|fragment|subscription) (\w+)[^`]*`/g,
      "(await import('./__generated__/$1.graphql.ts')).default",
    ),
  );
  const load = (name: string) => import(pathToFileURL(`${project.dir}/src/relay/${name}.ts`).href);
  page = { ...(await load('environment')), ...(await load('clients')) };
  gateway = await openRestarting();
  relay = page.createEnvironment(`${gateway.url}/graphql`, () => tokenFor(['partner']));
});
afterAll(async () => {
  relay?.close();
  await gateway?.[Symbol.asyncDispose]();
  project?.remove();
});

const idsOf = (clinic: OpenClinic) => clinic.read().clients.edges.map(({ node }) => node.id);

it('loads a connection page by page, through `node`', async () => {
  const clinic = await page.openClinic(relay.environment, gateway.sandbox.ids.clinic(0));
  expect(idsOf(clinic)).toHaveLength(10);
  await clinic.loadNext(10);
  await clinic.loadNext(15);
  expect(new Set(idsOf(clinic)).size).toBe(35);
  expect(clinic.read().clients.totalCount).toBe(420);
});

it('refetches by global id, and gets an added client', async () => {
  const { sandbox } = gateway;
  const clinic = await page.openClinic(relay.environment, sandbox.ids.clinic(1));
  const before = clinic.read();
  sandbox.addClient(sandbox.ids.clinician(14), 'tail');
  // The restart empties the caches.
  await gateway.close();
  await gateway.open();
  await clinic.refetch();
  expect(clinic.read().clients.totalCount).toBe(before.clients.totalCount + 1);
  expect(clinic.read().name).toBe(before.name);
});

it('receives each note after the query’s cursor once, over a restart', async () => {
  const { sandbox } = gateway;
  const { eventCursor } = await page.openClinic(relay.environment, sandbox.ids.clinic(0));
  const received = createTally<string>();
  const add = ({ cursor }: { cursor: string }) => received.add(cursor);
  const ended = createTally<Error>();
  const subscription = page.subscribeToNotes(relay.environment, eventCursor, add, ended.add);
  sandbox.burst(10);
  await received.reaches(3);
  await gateway.close();
  sandbox.burst(10);
  await gateway.open();
  await sandbox.delivered();
  const types = ['PROGRESS_NOTE_GENERATED', 'PROGRESS_NOTE_REGENERATED'];
  const all = await logged(gateway, eventCursor, types);
  await received.reaches(all.length);
  expect(received.all).toEqual(all);
  expect(ended.all).toEqual([]);
  subscription.dispose();
});

it('reports that the cursor of a subscription has expired', async () => {
  const { eventCursor } = await page.openClinic(relay.environment, gateway.sandbox.ids.clinic(0));
  await gateway.close();
  await gateway.open('fresh');
  const ended = createTally<Error>();
  page.subscribeToNotes(relay.environment, eventCursor, () => {}, ended.add);
  await ended.reaches(1);
  expect(ended.all).toMatchObject([{ cause: [{ extensions: { code: 'EVENTS_EXPIRED' } }] }]);
});
