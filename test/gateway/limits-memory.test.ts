import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from 'vitest';

import { openDeployment } from '../support/faults/deployment.ts';
import type { ServerProcess } from '../support/faults/process/process.ts';
import { openGateway, tokenFor } from '../support/gateway.ts';
import { ofTokens, times } from '../support/graph/sized-documents.ts';
import { raw, requestOf } from '../support/raw-http.ts';
import { type RawSocket, dialIn, gauge, until } from '../support/ws/raw-socket.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MB = 1024 * 1024;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Of a process that has loaded report-memory.ts, in MB. */
async function memoryOf(server: ServerProcess) {
  const reports = () => server.stderr().match(/^\{.*\}$/gm) ?? [];
  const { length } = reports();
  server.signal('SIGUSR2');
  await until(() => reports().length > length);
  const { heapUsed: heap, rss } = JSON.parse(reports().at(-1)!) as NodeJS.MemoryUsage;
  return { heap: heap / MB, resident: rss / MB };
}

const LIST = 'totalCount nodes { organizationId name id } pageInfo { hasNextPage endCursor }';
/** 480 to 730 characters, as frontends send them. Every fiftieth one has all the tokens that are allowed. */
function documentOf(i: number): string {
  if (i % 50 === 0) return ofTokens(1_000, `E${i}`);
  const list = (n: number) => `list${n}Of${i}: organizations(first: 1) { ${LIST} }`;
  return `query Q${i} { ${times(3 + (i % 3), list)} }`;
}

describe('memory', { timeout: 120_000 }, () => {
  it('grows by less than 16 MB of heap, and 75 MB resident, where 1,100 distinct documents are executed', async () => {
    await using deployment = await openDeployment({
      env: { NODE_OPTIONS: '--max-semi-space-size=32' }, // As `npm start` sets it.
      preload: ['test/support/faults/process/report-memory.ts'],
    });
    const { server } = deployment;
    const ask = async (i: number) => expect((await server.query(documentOf(i))).data).toBeDefined();
    for (const i of [1_100, 1_101]) await ask(i);
    const before = await memoryOf(server);
    for (let i = 0; i < 1_100; i += 10)
      await Promise.all(Array.from({ length: 10 }, (_, n) => ask(i + n)));
    const after = await memoryOf(server);
    expect(after.heap - before.heap).toBeLessThan(16);
    expect(after.resident - before.resident).toBeLessThan(75);
  });

  it('grows by less than 8 MB where 130 distinct documents are rejected', async () => {
    await using gateway = await openGateway();
    const ask = (i: number) => gateway.query(ofTokens(900, `R${i}`, 'nope'));
    for (let i = 130; i < 150; i += 1) await ask(i);
    const before = heapUsed();
    // Their syntax trees take some 29 MB together.
    for (let i = 0; i < 130; i += 1) expect((await ask(i)).data).toBeUndefined();
    expect((heapUsed() - before) / MB).toBeLessThan(8);
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
