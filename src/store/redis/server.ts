import { setTimeout as delay } from 'node:timers/promises';

import { StoreUnavailable } from '../../errors.ts';
import type { RedisClient, Run } from './connection.ts';

/** The server must not be written to, e.g. because it may not be the primary any more. */
export class WrongServer extends StoreUnavailable {}

const REASONS = new Map([
  ['LOADING', 'it is still loading its data'],
  ['READONLY', 'it is a read-only replica'],
  ['MASTERDOWN', 'it is a replica without a primary'],
  ['OOM', 'it is out of memory: raise maxmemory'],
  ['MISCONF', 'it cannot write to its disk'],
  ['NOREPLICAS', 'it has too few replicas'],
  ['NOAUTH', 'it wants a password'],
  ['WRONGPASS', 'it refuses the user name or password'],
  ['NOPERM', 'the user may not run this command'],
  ['MOVED', 'it is a cluster, and one server is wanted'],
  ['SocketClosedUnexpectedlyError', 'it closed the connection'],
  ['ERR DB index', 'it does not have the database that is named'],
]);

/** The server was demoted or is cut off: the primary may be another one by now. */
const NOT_PRIMARY = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED', 'NOREPLICAS']);

/** Redis begins its errors with a code in capitals; a socket's error has one, too. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^(ERR DB index|[A-Z]{2,})(?= )/.exec(error.message)?.[0] ?? error.constructor.name;
}

/** Only codes are logged: a message may quote the command. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const reason = REASONS.get(code);
  return reason ? `${reason} (${code})` : code;
}

export function failureOf(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const Failure = NOT_PRIMARY.has(codeOf(error)) ? WrongServer : StoreUnavailable;
  return new Failure(`Redis failed: ${reasonOf(error)}`, { cause: error });
}

/** Reads the server's role, replicas and settings from INFO, which is allowed where CONFIG is not. */
export async function inspect(redis: RedisClient) {
  // Not all sections come by default everywhere.
  const info = await redis.info('all');
  const valueOf = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  // While the server loads its data, INFO shows no append-only file.
  if (valueOf('loading') === '1')
    throw new StoreUnavailable('Redis failed: it is still loading its data (LOADING)');
  if (valueOf('role') === 'slave')
    throw new WrongServer('Redis failed: it is a read-only replica (READONLY)');
  // A backup is listed as a replica too, but is never online.
  const online = info.match(/^slave\d+:.*state=online.*$/gm) ?? [];
  // One that still loads its data (offset 0), or hangs (`lag`, in seconds), is not waited for unless it is the only one.
  const working = online.filter((line) => !/offset=0,|lag=([4-9]|\d\d)/.test(line));
  const [version, policy] = [valueOf('redis_version'), valueOf('maxmemory_policy')];
  let problem: string | undefined;
  if (Number.parseInt(version, 10) < 7)
    problem = `Redis 7 or newer is required, but this server is ${version}`;
  else if (policy !== 'noeviction')
    problem = `Redis must have maxmemory-policy noeviction, but it is ${policy}: events would be evicted`;
  return {
    /** Why the server would lose what was acknowledged. */
    problem,
    /** Changes with every start of the server. */
    runId: valueOf('run_id'),
    replicas: working.length || Math.min(online.length, 1),
    appendOnlyFile: valueOf('aof_enabled') === '1',
  };
}

/** Whether the file has been rewritten since the server was started. */
async function rewrite(run: Run): Promise<boolean> {
  // Redis writes a transaction to the file only if it has two writes.
  await run((redis) => redis.multi().set('transaction', '').set('transaction', '').exec());
  // Rejected while a rewrite runs that another instance began, which is enough.
  await run((redis) => redis.bgRewriteAof().catch(() => ''));
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    const info = await run((redis) => redis.info('persistence'));
    if (!/^aof_rewrite_(in_progress|scheduled):1/m.test(info))
      return /^aof_last_bgrewrite_status:ok/m.test(info) && !/^aof_rewrites:0/m.test(info);
    await delay(50);
  }
  return false;
}

/**
 * A server that is killed while it writes a transaction to its append-only file removes the broken command when it
 * starts, but not the beginning of the transaction (seen in 7.0.15). What is written next then belongs to that open
 * transaction, and is lost at the next start. So after every start of the server, and before anything is acknowledged,
 * the transaction is closed and the file rewritten from what the server holds. Resolves to whether it has been.
 */
export async function repairAppendOnlyFile(run: Run, runId: string): Promise<boolean> {
  const [repaired, epoch] = await run((redis) => redis.mGet(['repaired', 'epoch']));
  if (repaired === runId) return true;
  // With no log yet there is nothing that could be lost.
  const isRewritten = !epoch || (await rewrite(run));
  await run((redis) => redis.set('repaired', runId));
  return isRewritten;
}
