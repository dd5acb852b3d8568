import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from 'vitest';

import { openGateway, tokenFor } from '../support/gateway.ts';
import { ofTokens } from '../support/graph/sized-documents.ts';
import { raw, requestOf } from '../support/raw-http.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MB = 1024 * 1024;
/** Their syntax trees take some 90 MB together. */
const DENSE_DOCUMENTS = 200;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('memory', { timeout: 120_000 }, () => {
  it.each([
    ['less than 32 MB where 200 distinct documents are executed', 'E', undefined, 32],
    ['less than 8 MB where as many are rejected', 'R', 'nope', 8],
  ])('grows by %s', async (_, name, field, megabytes) => {
    await using gateway = await openGateway();
    const ask = (i: number) => gateway.query(ofTokens(900, `${name}${i}`, field));
    for (let i = 0; i < 20; i += 1) await ask(-i);
    const before = heapUsed();
    for (let i = 0; i < DENSE_DOCUMENTS; i += 1)
      expect((await ask(i)).data === undefined).toBe(field !== undefined);
    expect((heapUsed() - before) / MB).toBeLessThan(megabytes);
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
