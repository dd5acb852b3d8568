import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createRequest } from '@urql/core';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { connect, resuming } from '../../docs/clients/resume.ts';
import { createUrql } from '../../docs/clients/urql.ts';
import { type Project, createProject } from '../support/clients/project.ts';
import { type Gateway, openGateway, post, tokenFor } from '../support/gateway.ts';
import { dialIn, until } from '../support/ws/raw-socket.ts';

const VIEWER = 'query Viewer { viewer { subject grants } }';
const EVENTS = 'subscription Events { events { cursor type } }';
const FOUND = { viewer: { subject: 'tester', grants: ['partner'] } };

const dir = mkdtempSync(join(tmpdir(), 'partner-graph-trusted-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Manifest = Readonly<Record<string, string>>;

function fileOf(content: unknown): string {
  const file = join(dir, `${Math.random()}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const openTrusting = (content: unknown, env = {}) =>
  openGateway({ env: { TRUSTED_DOCUMENTS: fileOf(content), ...env } });

/** What graphql-codegen's client preset and Relay's compiler write for the two operations. */
const COMPILERS: readonly [string, () => Promise<{ project: Project; manifest: Manifest }>][] = [
  [
    'graphql-codegen',
    async () => {
      const project = createProject({ 'codegen.json': 'codegen/codegen.json' });
      mkdirSync(join(project.dir, 'src'));
      const tags = [VIEWER, EVENTS].map((text) => `graphql(\`${text}\`);`);
      writeFileSync(
        join(project.dir, 'src/page.ts'),
        ["import { graphql } from './gql/gql.ts';", ...tags].join('\n'),
      );
      project.edit('codegen.json', (text) =>
        text.replace(
          '"fragmentMasking": false',
          '"fragmentMasking": false, "persistedDocuments": { "hashAlgorithm": "sha256" }',
        ),
      );
      await project.run('graphql-codegen', '--config', 'codegen.json');
      return { project, manifest: readManifest(project, 'src/gql/persisted-documents.json') };
    },
  ],
  [
    'relay-compiler',
    async () => {
      const project = createProject({ 'relay.config.json': 'relay/relay.config.json' });
      mkdirSync(join(project.dir, 'src'));
      const named = [VIEWER, EVENTS].map((text) => text.replace(/(Viewer|Events)/, 'page$1Query'));
      const tags = [named[0]!, named[1]!.replace('Query', 'Subscription')].map(
        (text) => `graphql\`${text}\`;`,
      );
      writeFileSync(
        join(project.dir, 'src/page.ts'),
        ["import { graphql } from 'relay-runtime';", ...tags].join('\n'),
      );
      writeFileSync(join(project.dir, 'persisted.json'), '{}');
      project.edit('relay.config.json', (text) =>
        text.replace('{', '{ "persistConfig": { "file": "./persisted.json" },'),
      );
      await project.run('relay-compiler');
      return { project, manifest: readManifest(project, 'persisted.json') };
    },
  ],
];

const readManifest = ({ dir: at }: Project, path: string): Manifest =>
  JSON.parse(readFileSync(join(at, path), 'utf8'));

it.each(COMPILERS)('runs the documents that %s has compiled', async (_, compile) => {
  const { project, manifest } = await compile();
  onTestFinished(() => project.remove());
  await using gateway = await openTrusting(manifest);
  const authorization = `Bearer ${await tokenFor(['partner'])}`;
  const [id] = Object.entries(manifest).find(([, text]) => text.startsWith('query'))!;
  const { status, data } = await post(gateway.url, { documentId: id }, { authorization });
  expect([status, data]).toEqual([200, FOUND]);
});

describe('trusted documents', () => {
  const manifest: Manifest = { 'sha256:aaaa': VIEWER, bbbb: EVENTS };
  let gateway: Gateway;
  let authorization: string;
  beforeAll(async () => {
    gateway = await openTrusting(manifest);
    authorization = `Bearer ${await tokenFor(['partner'])}`;
  });
  afterAll(() => gateway.close());

  const entryOf = (kind: string) =>
    Object.entries(manifest).find(([, text]) => text.startsWith(kind))!;
  // graphql-codegen writes `sha256:` in front.
  const idOf = (kind: string): string => entryOf(kind)[0].replace('sha256:', '');
  const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
  /** Every way in which a client may name the query. */
  const ways = (kind: string): readonly object[] => [
    { documentId: idOf(kind) },
    { documentId: `sha256:${idOf(kind)}` },
    { extensions: persisted(idOf(kind)) },
    { query: entryOf(kind)[1] },
  ];
  const OTHERS = () => [
    { documentId: 'sha256:0000' },
    { documentId: '__proto__' },
    { documentId: 5 },
    { extensions: persisted('0000') },
    { query: `${entryOf('query')[1]} ` },
    { query: '{ __typename }' },
    { query: getIntrospectionQuery() },
    // Not parsed: this one would be a syntax error.
    { query: '{' },
  ];

  it('run over HTTP', async () => {
    for (const body of ways('query')) {
      expect(await post(gateway.url, body, { authorization })).toMatchObject({
        status: 200,
        data: FOUND,
      });
    }
  });

  it('run over server-sent events', async () => {
    for (const body of ways('subscription')) {
      const leaving = new AbortController();
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          accept: 'text/event-stream',
        },
        body: JSON.stringify(body),
        signal: leaving.signal,
      });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
      let received = '';
      await until(async () => {
        received += (await reader.read()).value ?? '';
        return received.includes('ASSESSMENT');
      });
      leaving.abort();
    }
  });

  it('run over WebSocket', async () => {
    using socket = await dialIn(gateway);
    for (const [i, way] of ways('query').entries()) {
      socket.send({ id: `${i}`, type: 'subscribe', payload: { query: '', ...way } });
      expect(await socket.next()).toMatchObject({ id: `${i}`, payload: { data: FOUND } });
      expect(await socket.next()).toEqual({ id: `${i}`, type: 'complete' });
    }
  });

  it('are the only ones that run: others are rejected over each transport, before they are parsed', async () => {
    using socket = await dialIn(gateway);
    for (const body of OTHERS()) {
      for (const accept of ['application/json', 'text/event-stream', '*/*, text/event-stream']) {
        const { status, errors, data } = await post(gateway.url, body, { authorization, accept });
        expect([status, data]).toEqual(['query' in body ? 400 : 404, undefined]);
        expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['DOCUMENT_NOT_TRUSTED']);
      }
      socket.send({ id: 'other', type: 'subscribe', payload: { query: '', ...body } });
      const { type, payload } = await socket.next();
      expect([type, payload[0].extensions.code]).toEqual(['error', 'DOCUMENT_NOT_TRUSTED']);
    }
    const { errors } = await post(gateway.url, {}, { authorization });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});

it('runs the hashes that Apollo Client sends, which sends no text for a rejected one', async () => {
  // As the client preset makes them; the cache adds `__typename` before the document is sent.
  const documentOf = (text: string, hash: string) =>
    Object.assign(gql(text), { __meta__: { hash } });
  const query = documentOf('query Viewer { viewer { subject } }', 'known');
  const text = 'query Viewer { viewer { subject __typename } }';
  await using gateway = await openTrusting({ known: text });
  const authorization = `Bearer ${await tokenFor(['partner'])}`;
  const bodies: string[] = [];
  const http = new HttpLink({
    uri: `${gateway.url}/graphql`,
    headers: { authorization },
    fetch: (url, init) => {
      bodies.push(init?.body as string);
      return fetch(url, init);
    },
  });
  const persisted = new PersistedQueryLink({
    generateHash: (document) => (document as typeof query)['__meta__'].hash,
  });
  const client = new ApolloClient({ link: persisted.concat(http), cache: new InMemoryCache() });
  const { data } = await client.query({ query });
  expect(data).toMatchObject({ viewer: { subject: 'tester' } });
  const other = client.query({
    query: documentOf('query Other { viewer { grants } }', 'other'),
  });
  await expect(other).rejects.toThrow(/registered/);
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(body).not.toContain('viewer');
});

describe('the hash of a subscription', () => {
  const hashed = { persistedQuery: { version: 1 as const, sha256Hash: 'known' } };
  let gateway: Gateway;
  let token: string;
  beforeAll(async () => {
    gateway = await openTrusting({ known: EVENTS });
    token = await tokenFor(['partner']);
  });
  afterAll(() => gateway.close());

  async function firstOf(received: readonly unknown[]): Promise<void> {
    await until(() => {
      gateway.sandbox.burst(1);
      return received.length > 0;
    });
    expect(received[0]).toMatchObject({ data: { events: {} } });
  }

  it('is sent by Apollo Client if the socket’s link leaves the text out', async () => {
    const sockets = connect(`${gateway.url.replace('http', 'ws')}/graphql`, () => token);
    onTestFinished(() => sockets.dispose());
    const resumed = resuming(sockets);
    const link = new GraphQLWsLink({
      ...resumed,
      subscribe: (payload, sink) => resumed.subscribe({ ...payload, query: '' }, sink),
    });
    const persisted = new PersistedQueryLink({ generateHash: () => 'known' });
    const client = new ApolloClient({ link: persisted.concat(link), cache: new InMemoryCache() });
    const received: unknown[] = [];
    client
      .subscribe({ query: gql(EVENTS), fetchPolicy: 'no-cache' })
      .subscribe((result) => received.push(result));
    await firstOf(received);
  });

  it('is sent by urql', async () => {
    const { client, close } = createUrql(`${gateway.url}/graphql`, () => token);
    onTestFinished(() => close());
    const request = { ...createRequest(EVENTS, {}), extensions: hashed };
    const received: unknown[] = [];
    client
      .executeRequestOperation(client.createRequestOperation('subscription', request))
      .subscribe((result) => received.push(result));
    await firstOf(received);
  });
});

it('runs the introspection query if it is in the file and introspection is on', async () => {
  const introspection = getIntrospectionQuery();
  await using gateway = await openTrusting({ a: introspection });
  expect((await gateway.query(introspection)).data).toHaveProperty(
    '__schema.queryType.name',
    'Query',
  );
  await expect(openTrusting({ a: introspection }, { GRAPHIQL: 'off' })).rejects.toThrow(
    /a: .*introspection/,
  );
});

describe('the gateway does not start with a file that', () => {
  it.each([
    ['is not JSON', '{', /not valid JSON/],
    ['is a list', [VIEWER], /JSON object/],
    ['is null', 'null', /JSON object/],
    ['is empty', {}, /no document/],
  ])('%s', async (_, content, message) => {
    await expect(openTrusting(content)).rejects.toThrow(message);
  });

  it('does not exist', async () => {
    const env = { TRUSTED_DOCUMENTS: join(dir, 'absent.json') };
    await expect(openGateway({ env })).rejects.toThrow(/TRUSTED_DOCUMENTS.*\n.*ENOENT/);
  });

  it('has invalid documents, and lists every problem', async () => {
    const deep = 'organization { clinics(first: 1) { nodes {';
    const opened = openTrusting({
      fine: VIEWER,
      number: 5,
      syntax: '{',
      schema: 'query A { viewer { subjct } nobody }',
      fragment: 'fragment F on Query { __typename }',
      deep: `{ clinic(id: "x") { ${deep.repeat(8)} __typename ${'}}}'.repeat(8)} } }`,
      long: `${VIEWER} #`.padEnd(15_001, '#'),
    });
    const { message } = await opened.then(
      () => ({ message: 'it started' }),
      (error: Error) => error,
    );
    const lines = message.split('\n');
    expect(lines[0]).toBe('TRUSTED_DOCUMENTS refused:');
    expect(lines.slice(1).map((line) => line.replace(/^- (\w+): .*$/, '$1'))).toEqual([
      'number',
      'syntax',
      'schema',
      'schema',
      'fragment',
      'deep',
      'long',
    ]);
    expect(message).toContain('Cannot query field "nobody" on type "Query".');
    expect(message).toContain('at most 24 levels of fields');
  });
});
