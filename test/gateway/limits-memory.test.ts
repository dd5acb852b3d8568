import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { GraphQLError } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';

import { readConfig } from '../../src/config.ts';
import { schema } from '../../src/schema/schema.ts';
import { useDocumentLimits } from '../../src/gateway/plugins/use-document-limits.ts';
import { openGateway, tokenFor } from '../support/gateway.ts';
import { ofTokens } from '../support/graph/sized-documents.ts';
import { raw, requestOf } from '../support/raw-http.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MB = 1024 * 1024;
/** Their syntax trees take some 90 MB together. */
const DENSE_DOCUMENTS = 200;

/** Parses and validates through the plugin. */
function createValidator(): (query: string) => boolean {
  const yoga = createYoga({
    schema,
    parserAndValidationCache: false,
    plugins: [useDocumentLimits(readConfig({ GRAPHIQL: 'off' }))],
  });
  return (query) => {
    const { parse, validate } = yoga.getEnveloped({ params: { query } });
    try {
      return validate(schema, parse(query)).length === 0;
    } catch (error) {
      if (error instanceof GraphQLError) return false;
      throw error;
    }
  };
}

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('memory', { timeout: 120_000 }, () => {
  /** By how much it grows, and how many were rejected. */
  function grownBy(count: number, source: (i: number) => string) {
    const isValid = createValidator();
    const before = heapUsed();
    let refused = 0;
    for (let i = 0; i < count; i += 1) refused += isValid(source(i)) ? 0 : 1;
    const grown = heapUsed() - before;
    // Used once more, so that it is not garbage-collected before.
    expect(isValid('')).toBe(false);
    return { megabytes: grown / MB, refused };
  }

  it('grows by less than 32 MB under 200 distinct documents, however dense', () => {
    const { megabytes, refused } = grownBy(DENSE_DOCUMENTS, (i) => ofTokens(900, `Q${i}`));
    expect(refused).toBe(0);
    expect(megabytes).toBeLessThan(32);
  });

  it('keeps nothing of rejected documents', () => {
    const { megabytes, refused } = grownBy(200, (i) => ofTokens(900, `R${i}`, 'nope'));
    expect(refused).toBe(200);
    expect(megabytes).toBeLessThan(8);
  });

  it('grows by less than 32 MB where 200 distinct documents are executed', async () => {
    await using gateway = await openGateway();
    const ask = (i: number) => gateway.query(ofTokens(900, `E${i}`));
    for (let i = 0; i < 20; i += 1) await ask(-i);
    const before = heapUsed();
    for (let i = 0; i < DENSE_DOCUMENTS; i += 1) expect((await ask(i)).data).not.toBeUndefined();
    expect((heapUsed() - before) / MB).toBeLessThan(32);
  });

  it('does not grow by thirty syntax errors of 5 MB each', async () => {
    await using gateway = await openGateway();
    const authorization = `Bearer ${await tokenFor(['partner'])}`;
    const headers = { 'Content-Type': 'application/json', Authorization: authorization };
    const body = Buffer.alloc(5 * MB, '{');
    const send = (i: number) => {
      body.write(`{"query":"{ ${i} `);
      return raw(gateway.url, requestOf('POST /graphql HTTP/1.1', headers, body));
    };
    expect(await send(-1)).toMatch(/^HTTP\/1.1 413/);
    const before = heapUsed();
    const responses = [];
    for (let i = 0; i < 30; i += 1) responses.push((await send(i)).slice(0, 12));
    expect(new Set(responses)).toEqual(new Set(['HTTP/1.1 413']));
    expect(heapUsed() - before).toBeLessThan(5 * MB);
  });
});
