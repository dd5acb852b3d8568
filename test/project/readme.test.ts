import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { openGateway } from '../support/gateway.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const readme = read('../../README.md');
const isServed = existsSync(new URL('../support/gateway.ts', import.meta.url));

function blocks(language: string): readonly string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  return [...readme.matchAll(fence)].map(([, text]) => text ?? '');
}

const operations = blocks('graphql').map((document) => ({
  name: /^(?:query|mutation|subscription) (\w+)/.exec(document)?.[1] ?? 'without a name',
  document,
}));
const isSubscription = (document: string) => document.startsWith('subscription');

it('offers a query to paste', () => {
  expect(operations.map(({ name }) => name)).toContain('Clinics');
});

it('names only scripts that exist', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('../../package.json'));
  const named = [...readme.matchAll(/npm run ([\w-]+)/g)].map(([, name]) => name ?? '');
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

describe.runIf(isServed)('what the README offers', () => {
  let gateway: Awaited<ReturnType<typeof openGateway>>;
  beforeAll(async () => {
    const { openGateway: open } = await import('../support/gateway.ts');
    gateway = await open();
  });
  afterAll(() => gateway.close());

  const queries = operations.filter(({ document }) => !isSubscription(document));
  it.each(queries)('runs unchanged: $name', async ({ document }) => {
    const answer = await gateway.query(document);
    expect(answer).not.toHaveProperty('errors');
    expect(answer).toHaveProperty('data');
  });

  const subscriptions = operations.filter(({ document }) => isSubscription(document));
  it.each(subscriptions)('is valid against the schema: $name', async ({ document }) => {
    const { parse, validate } = await import('graphql');
    const { schema } = await import('../../src/schema/schema.ts');
    expect(validate(schema, parse(document))).toEqual([]);
  });
});
