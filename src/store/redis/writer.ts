import { setTimeout } from 'node:timers/promises';
import { StoreUnavailable } from '../errors.ts';
import type { Command, RedisConnection, Run } from './connection.ts';
import { names, runScript } from './scripts.ts';

const WAIT_MS = 1_000;
const NOT_DURABLE =
  'Redis has neither an append-only file nor a replica: if it crashes, events are lost';

export type Writer = Awaited<ReturnType<typeof openWriter>>;

/** Has a connection of its own: WAIT blocks the commands behind it. */
export async function openWriter(
  connection: RedisConnection,
  onProblem: (message: string) => void,
  onServerChanged: () => void,
) {
  /** Whether replicas have been seen. From then on writes need one: the primary may be cut off. */
  let replicated = false;
  let known: string | undefined;
  let reported: string | undefined;

  /** The server may be cut off, with one of its replicas as the primary. */
  function wrongServer(reason: string) {
    connection.reconnect(reason);
    return new StoreUnavailable(reason);
  }

  async function inspectServer(run: Run) {
    const server = await inspect(run);
    if (!server.isPrimary) throw wrongServer('Redis failed: it is a read-only replica (READONLY)');
    replicated ||= server.replicas > 0;
    if (known !== undefined && known !== server.runId) onServerChanged();
    known = server.runId;
    return server;
  }

  // A new socket may lead to another server.
  await connection.prepare(async (run) => {
    const { runId, appendOnlyFile, problem } = await inspectServer(run);
    if (problem) throw new StoreUnavailable(problem);
    if (appendOnlyFile) await repairAppendOnlyFile(run, runId, onProblem);
    else if (!replicated) onProblem(NOT_DURABLE);
  });

  return {
    /** For the other connections: a Sentinel that is cut off may have led them to a former primary. */
    async requireSameServer(run: Run): Promise<void> {
      const { runId } = await inspect(run);
      if (runId !== known) throw new StoreUnavailable('Redis failed: it is not the primary');
    },
    /** Detects replicas that were added, and reports a setting that was changed. */
    async inspectServer(): Promise<void> {
      const { problem } = await inspectServer(connection.run);
      if (problem && problem !== reported) onProblem(problem);
      reported = problem;
    },
    /** Resolves once the write survives a crash of the primary. */
    async write<Reply>(command: Command<Reply>): Promise<Reply> {
      if (!replicated) return connection.run(command);
      const [reply, confirmed] = await Promise.all([
        connection.run(command),
        connection.run((redis) => redis.wait(1, WAIT_MS)),
      ]);
      if (confirmed < 1) {
        throw wrongServer(`no Redis replica confirmed the write within ${WAIT_MS} ms`);
      }
      return reply;
    },
  };
}

const valueIn = (info: string, name: string) =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';

/** INFO shows all of it, and is allowed where CONFIG is not. */
async function inspect(run: Run) {
  // Not all sections come by default everywhere.
  const info = await run((redis) => redis.info('all'));
  // Until then INFO is answered as if there were no append-only file.
  if (valueIn(info, 'loading') === '1') {
    throw new StoreUnavailable('Redis failed: it is still loading its data (LOADING)');
  }
  return {
    problem: problemIn(info),
    /** Changes with every start of the server. */
    runId: valueIn(info, 'run_id'),
    isPrimary: valueIn(info, 'role') !== 'slave',
    replicas: Number(valueIn(info, 'connected_slaves')),
    appendOnlyFile: valueIn(info, 'aof_enabled') === '1',
  };
}

/** Why the server would lose what was acknowledged. */
function problemIn(info: string): string | undefined {
  const version = valueIn(info, 'redis_version');
  const policy = valueIn(info, 'maxmemory_policy');
  if (Number.parseInt(version, 10) < 7)
    return `Redis 7 or newer is required, but this server is ${version}`;
  if (policy !== 'noeviction')
    return `Redis must have maxmemory-policy noeviction, but it is ${policy}: events would be evicted`;
  return undefined;
}

const POLL_MS = 50;
const MAX_WAIT_MS = 30_000;

/** Two writes make a transaction in the file. */
const CLOSE_TRANSACTION = `
  redis.call('SET', KEYS[1], 1)
  redis.call('SET', KEYS[1], 2)
`;

async function rewrite(run: Run): Promise<boolean> {
  try {
    await run((redis) => redis.bgRewriteAof());
  } catch (error) {
    // Without a cause it is a timeout, and a new connection may do better.
    const { cause } = error instanceof Error ? error : {};
    if (!(cause instanceof Error)) throw error;
    // A rewrite that another instance began is enough.
    if (!cause.message.includes('in progress')) return false;
  }
  const deadline = performance.now() + MAX_WAIT_MS;
  while (performance.now() < deadline) {
    const info = await run((redis) => redis.info('persistence'));
    const busy = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled'];
    if (busy.every((name) => valueIn(info, name) !== '1')) {
      return valueIn(info, 'aof_last_bgrewrite_status') === 'ok';
    }
    await setTimeout(POLL_MS);
  }
  return false;
}

/**
 * A server that is killed while it writes a transaction to its append-only file removes the broken command when it
 * starts, but not the beginning of the transaction (seen in 7.0.15). What is written next then belongs to that open
 * transaction, and is lost at the next start. So after every start of the server, and before anything is acknowledged,
 * the transaction is closed and the file rewritten from what the server holds.
 */
async function repairAppendOnlyFile(
  run: Run,
  runId: string,
  onProblem: (message: string) => void,
): Promise<void> {
  const [repaired, epoch] = await run((redis) => redis.mGet([names.repaired, names.epoch]));
  if (repaired === runId) return;
  // With no log yet there is nothing that could be lost.
  if (epoch) {
    await runScript(run, CLOSE_TRANSACTION, [names.transaction], []);
    if (!(await rewrite(run))) {
      onProblem('Redis was restarted and did not rewrite its append-only file: run BGREWRITEAOF');
    }
  }
  await run((redis) => redis.set(names.repaired, runId));
}
