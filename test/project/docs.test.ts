import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { type DocumentNode, OperationTypeNode, getOperationAST, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { namesOfVariables } from '../support/variables.ts';
import { CLIENT_CODES } from '../../src/gateway/plugins/use-error-masking.ts';
import { schema } from '../../src/schema/schema.ts';
import { blocksOf, pages, root, spans } from '../support/clients/pages.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());

const isSubscription = (document: DocumentNode) =>
  getOperationAST(document)?.operation === OperationTypeNode.SUBSCRIPTION;

const operations = blocksOf('graphql').map(({ page, text }) => {
  const document = parse(text);
  return { page, text, document, name: getOperationAST(document)?.name?.value ?? '' };
});

/** Values for the variables of the documented operations. */
const variables = () => {
  const { ids } = gateway.sandbox;
  return {
    clinicId: ids.clinic(0),
    clientId: ids.client(0),
    sessionId: ids.session(0, 0),
    progressNoteId: ids.note(0, 0),
    userInstructions: 'Shorten the plan.',
  };
};

describe('every operation in the docs', () => {
  it('has a name', () => {
    expect(operations.filter(({ name }) => name === '')).toEqual([]);
  });

  const subscriptions = operations.filter(({ document }) => isSubscription(document));
  it.each(subscriptions)('$page: $name is valid against the schema', ({ document }) => {
    expect(validate(schema, document)).toEqual([]);
  });

  const others = operations.filter(({ document }) => !isSubscription(document));
  it.each(others)('$page: $name runs unchanged', async ({ text }) => {
    const answer = await gateway.query(text, variables());
    expect(answer.errors).toBeUndefined();
    expect(JSON.stringify(answer.data)).not.toMatch(PROBLEM);
  });
});

const PROBLEM = /"__typename":"(?:NotFound|InvalidInput|ProgressNoteLocked)"/;

describe('the files shown in the docs', () => {
  const shown = pages.flatMap(({ blocks }) => blocks).filter(({ file }) => file !== undefined);
  it.each(shown)('$page has $file unchanged', ({ file, text }) => {
    expect(text).toBe(readFileSync(join(root, file!), 'utf8'));
  });

  it('include every file meant to be copied', () => {
    const copied = ['resume', 'sse', 'apollo', 'apollo-usage', 'urql'].map((name) => `${name}.ts`);
    const files = shown.map(({ file }) => file!.replace('docs/clients/', ''));
    expect(files).toEqual(expect.arrayContaining(copied));
  });
});

describe('a page of the docs', () => {
  it.each(pages)('$path links only to files that exist', ({ path, text }) => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)?(?:#[\w-]+)?\)/g)].map(
      ([, to]) => to,
    );
    const missing = links.filter((to) => to && !existsSync(join(root, dirname(path), to)));
    expect(missing).toEqual([]);
  });

  it.each(pages)('$path links only to headings that exist', ({ path, text }) => {
    const anchors = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([\w-]+)\)/g)];
    const missing = anchors.filter(([, to = '', anchor = '']) => {
      const target = to === '' ? text : readFileSync(join(root, dirname(path), to), 'utf8');
      return !headingsOf(target).includes(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it.each(pages)('$path names only files that exist', (page) => {
    const FILE = /^(?:src|sandbox|web|test|docs|scripts|deploy|bench)\/[\w./-]+$/;
    const named = spans(page).filter((span) => FILE.test(span));
    expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });

  it.each(pages)('$path names only scripts that exist', ({ text }) => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = [...text.matchAll(/npm run (?:--\w+ )*([\w-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it.each(pages)('$path names only variables, codes and types that exist', (page) => {
    const NAME = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b(?!_\*)/g;
    const named = spans(page).flatMap((span) => span.match(NAME) ?? []);
    const known = new Set<string>([...namesOfVariables(), ...CODES, ...KINDS]);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('lists every code, with what to do about it', () => {
    const { text } = pages.find(({ path }) => path === 'docs/frontends.md')!;
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
    expect(rows).toEqual(expect.arrayContaining(CODES));
  });

  it.each(pages)('$path names only metrics that are exported', async (page) => {
    const METRIC = /^(?:gateway|partner|events|webhooks|nodejs|process)_[a-z0-9_]+$/;
    const exported = await (await fetch(`${gateway.url}/metrics`)).text();
    const quota = ['partner_quota_remaining'];
    const named = spans(page).filter((span) => METRIC.test(span) && !quota.includes(span));
    expect(named.filter((name) => !exported.includes(`# TYPE ${name} `))).toEqual([]);
  });
});

describe('CONTRIBUTING', () => {
  const { text } = pages.find(({ path }) => path === 'CONTRIBUTING.md')!;

  const sections = text.split(/^## /m);

  it.each(['A query', 'An edit', 'A webhook'])('follows %s in at most twelve steps', (what) => {
    const section = sections.find((part) => part.startsWith(`${what}, step by step`)) ?? '';
    const steps = section.split(/^\d+\. /m).slice(1);
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThanOrEqual(12);
    const files = steps.map((step) => /`(src\/[\w./-]+)`/.exec(step)?.[1] ?? 'none');
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('lists every folder of the source', () => {
    const entries = readdirSync(join(root, 'src'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `src/${name}`);
    expect(folders.filter((folder) => !text.includes(`\`${folder}\``))).toEqual([]);
  });
});

/** The values of the schema's enums. */
const KINDS = Object.values(schema.getTypeMap()).flatMap((type) =>
  'getValues' in type ? type.getValues().map(({ name }) => name) : [],
);

const CODES = [
  ...CLIENT_CODES,
  'INTERNAL_SERVER_ERROR',
  'DOCUMENT_NOT_TRUSTED',
  'PERSISTED_QUERY_NOT_SUPPORTED',
];

const headingsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
