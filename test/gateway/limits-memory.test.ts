import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from 'vitest';

import { openGateway, tokenFor } from '../support/gateway.ts';
import { ofTokens } from '../support/graph/sized-documents.ts';
import { raw, requestOf } from '../support/raw-http.ts';
import { type RawSocket, dialIn, gauge, until } from '../support/ws/raw-socket.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MB = 1024 * 1024;
/** Their syntax trees take some 29 MB together. */
const DENSE_DOCUMENTS = 130;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('memory', { timeout: 120_000 }, () => {
  it.each([
    ['less than 16 MB where 130 distinct documents are executed', 'E', undefined, 16],
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

  it('grows by less than 8 MB where 100 distinct documents are compiled', async () => {
    const program = ['--expose-gc', 'test/support/graph/compile-documents.ts'];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    expect(Number.parseFloat(stdout)).toBeLessThan(8);
  });

  it('grows by less than 7 MB where 200 subscriptions have large variables that they do not declare', async () => {
    await using gateway = await openGateway();
    const before = heapUsed();
    const sockets: RawSocket[] = [];
    for (let i = 0; i < 4; i += 1) sockets.push(await dialIn(gateway));
    for (const [at, socket] of sockets.entries())
      for (let i = 0; i < 50; i += 1) {
        const variables = { note: `${at} ${i} `.repeat(5_000) };
        // Equal ones would share one operation.
        const query = `subscription { s${at}_${i}: events { cursor } }`;
        const payload = { query, variables };
        socket.send({
          id: `${i}`,
          type: 'subscribe',
          payload: { ...payload, extensions: variables },
        });
      }
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 200);
    expect((heapUsed() - before) / MB).toBeLessThan(7);
    for (const socket of sockets) socket[Symbol.dispose]();
  });

  it('does not grow by ten syntax errors of 5 MB each', async () => {
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
    for (let i = 0; i < 10; i += 1) responses.push((await send(i)).slice(0, 12));
    expect(new Set(responses)).toEqual(new Set(['HTTP/1.1 413']));
    expect(heapUsed() - before).toBeLessThan(5 * MB);
  });
});
