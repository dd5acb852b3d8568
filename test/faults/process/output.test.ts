import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { askOften } from '../../support/faults/pipelined.ts';
import { type Deployment, openDeployment } from '../../support/faults/deployment.ts';
import { tokenFor } from '../../support/gateway.ts';
import { gauge, until } from '../../support/ws/raw-socket.ts';

const MINT =
  'mutation($id: ID!) { authenticateClinician(input: { clinicianId: $id }) { __typename } }';
const MINTED = 'POST /clinicians/:id/authenticate';

const note = ({ sandbox }: Deployment) => ({ id: sandbox.ids.note(0, 0) });
/** The audit lines on disk. */
const spoolOf = ({ storeDir }: Deployment): string => {
  const path = join(storeDir, 'audit-0.spool');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

/** Writes `count` audit lines of half a kilobyte. */
async function flood(deployment: Deployment, count: number): Promise<void> {
  const query = 'query Flood($id: ID!) { progressNote(id: $id) { isLoading } }';
  const token = await tokenFor(['partner'], { subject: 'x'.repeat(250) });
  await askOften(deployment.url(), token, count, { query, variables: note(deployment) });
}

/** Queries whose audit lines differ in the operation's name. */
async function read(deployment: Deployment, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) {
    const document = `query Read_${n}($id: ID!) { progressNote(id: $id) { isLoading } }`;
    expect((await deployment.server.query(document, note(deployment))).errors).toBeUndefined();
  }
}

/** The last line of a killed process may be incomplete. */
const readsIn = (lines: readonly string[]): number[] =>
  lines
    .filter((line) => line.startsWith('{"level":"audit"') && line.endsWith('}'))
    .flatMap((line) => /"operation":"Read_(\d+)"/.exec(line)?.[1] ?? [])
    .map(Number);

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, n) => from + n);

/** Writes more than the pipe and this process's own buffer can hold. */
async function stall(deployment: Deployment): Promise<void> {
  deployment.server.output.pause();
  while (spoolOf(deployment) === '') await flood(deployment, 200);
}

describe('with stdout blocked', { timeout: 120_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment[Symbol.asyncDispose]());

  it('rejects mutations once the audit spool is full, and still answers queries', async () => {
    const { server, sandbox } = deployment;
    const id = sandbox.ids.clinician(0);
    await stall(deployment);
    await read(deployment, 0, 50);
    expect((await server.query(MINT, { id })).errors).toBeUndefined();
    // The spool holds 10,000 lines.
    while ((await server.ready()).status === 200) await flood(deployment, 1_000);
    expect((await server.ready()).text).toContain('stdout is blocked');
    const { errors } = await server.query(MINT, { id });
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    expect(errors?.[0]?.message).toContain('Nothing was changed');
    expect(sandbox.countOf(MINTED)).toBe(1);
    await read(deployment, 50, 51);
    await until(async () => (await gauge(server, 'gateway_audit_lines_lost_total')) > 0);

    server.output.resume();
    await until(async () => (await server.ready()).status === 200);
    await read(deployment, 51, 60);
    expect((await server.query(MINT, { id })).errors).toBeUndefined();
    const minted = () => server.stdout.filter((line) => line.includes('authenticateClinician: '));
    await until(() => minted().length >= 4);
    // One read found the spool full, unless its line was written after stdout was read again.
    const others = readsIn(server.stdout).filter((n) => n !== 50);
    expect(others).toEqual(numbers(0, 60).filter((n) => n !== 50));
    expect(minted()).toHaveLength(4);
  });

  it('writes the audit lines of a killed process at the next start', async () => {
    const killed = deployment.server;
    await stall(deployment);
    await read(deployment, 100, 200);
    await until(() => spoolOf(deployment).includes('Read_199'));
    killed.signal('SIGKILL');
    await until(() => hasEnded(killed.pid));
    killed.output.resume();
    await killed.exited;
    await deployment.start();
    await until(() => readsIn(deployment.server.stdout).includes(199));
    const found = [...readsIn(killed.stdout), ...readsIn(deployment.server.stdout)];
    expect(found.filter((n) => n >= 100)).toEqual(numbers(100, 200));
    await until(() => spoolOf(deployment) === '');
    expect(await gauge(deployment.server, 'gateway_audit_lines_spooled')).toBe(0);
  });

  it('keeps serving when stdout was closed, and writes its audit lines at the next start', async () => {
    const closed = deployment.server;
    closed.output.destroy();
    await read(deployment, 200, 220);
    await until(() => spoolOf(deployment) !== '');
    await read(deployment, 220, 240);
    closed.signal('SIGTERM');
    expect(await closed.exited).toEqual({ code: 0, signal: null });
    await deployment.start();
    await until(() => readsIn(deployment.server.stdout).includes(239));
    expect(readsIn(deployment.server.stdout)).toEqual(numbers(200, 240));
  });

  it('does not send a change whose own audit line can be written nowhere', async () => {
    const { server, sandbox, storeDir } = deployment;
    sandbox.resetCounts();
    await stall(deployment);
    const spool = join(storeDir, 'audit-0.spool');
    rmSync(spool);
    mkdirSync(spool);
    const { errors } = await server.query(MINT, { id: sandbox.ids.clinician(0) });
    expect(errors?.[0]?.message).toContain('Nothing was changed');
    expect(sandbox.countOf(MINTED)).toBe(0);
    server.output.resume();
    await until(() => server.stdout.some((line) => line.includes(': UPSTREAM_UNAVAILABLE"')));
  });
});

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
