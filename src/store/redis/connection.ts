import { setTimeout as delay } from 'node:timers/promises';

import { DisconnectsClientError, createClient } from 'redis';

import { SENTINEL_URL } from '../../config.ts';
import { StoreNotReached, StoreUnavailable } from '../../errors.ts';
import { WrongServer, failureOf, inspect, reasonOf, repairAppendOnlyFile } from './server.ts';

const DEADLINE_MS = 3_000;
const NO_ANSWER = `Redis did not answer within ${DEADLINE_MS} ms`;
const WAIT_MS = 1_000;
const NOT_DURABLE =
  'Redis has neither an append-only file nor a replica: if it crashes, events are lost';

/** Prefix of keys, added by node-redis, and of channels. All keys share a hash tag: a script may touch any of them. */
export const PREFIX = '{partner-graph}:';

/** A client that sends no command twice. A lost socket is replaced by a new client: see `createConnection`. */
const createBareClient = (url: string) =>
  createClient({
    url,
    keyPrefix: PREFIX,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 20_000,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: false },
  });

export type RedisClient = ReturnType<typeof createBareClient>;
export type RedisConnection = ReturnType<typeof createConnection>;
type Command<Reply> = (redis: RedisClient) => Promise<Reply>;
/** Rejects with `StoreUnavailable`. A command is never sent again, since its outcome is then unknown. */
export type Run = <Reply>(command: Command<Reply>) => Promise<Reply>;

/**
 * A session has two sockets to one server, since WAIT blocks the commands behind it. It is replaced when the server is
 * lost or may not be the primary any more. Each session has new clients: node-redis would reconnect to the old address.
 */
export function createConnection(url: string, onProblem: (message: string) => void) {
  const { locate, database } = addressOf(url);
  const subscriptions = new Map<string, (message: string) => unknown>();
  let onGap: (() => void) | undefined;
  let session: ReturnType<typeof createSession> | undefined;
  let lastRunId: string | undefined;
  let isConnecting = true;
  let isClosed = false;
  let lastFailure = 'no answer';
  /** How many replicas writes need (as many as were online lately, and one if there ever was one), and as of when. */
  let [requiredReplicas, requiredAt] = [0, 0];

  const outOfReach = (Failure = StoreUnavailable) =>
    new Failure(`Redis is out of reach: ${lastFailure}`);

  function createSession(address: string) {
    const [writer, reader] = [createBareClient(address), createBareClient(address)];
    const clients = [writer, reader];
    const runOn =
      (client: RedisClient): Run =>
      async (command) => {
        if (isClosed) throw new StoreUnavailable('the event store is closed');
        try {
          return await within(command(client));
        } catch (error) {
          // The socket was closed after another command failed: `lastFailure` has the cause.
          if (error instanceof DisconnectsClientError) throw outOfReach();
          const failure = failureOf(error);
          if (failure instanceof WrongServer) replace(created, failure.message, { isLost: false });
          // `failureOf` returns a timeout unchanged. A server that hangs keeps its socket open and the client ready.
          else if (failure === error || !client.isReady) replace(created, failure.message);
          throw failure;
        }
      };
    const created = {
      runOnWriter: runOn(writer),
      runOnReader: runOn(reader),
      connect: () => within(Promise.all(clients.map((client) => client.connect()))),
      /** Waits for pending commands first. */
      close: () =>
        Promise.all(clients.map((client) => within(client.close()).catch(() => client.destroy()))),
      destroy: () => clients.forEach(destroy),
    };
    for (const client of clients)
      client.on('error', (error: unknown) => {
        if (created !== session) return;
        onProblem(`Redis is out of reach: ${reasonOf(error)}`);
        replace(created, reasonOf(error));
      });
    return created;
  }
  type Session = ReturnType<typeof createSession>;

  /** A server that is not lost still answers reads until another session is ready. */
  function replace(former: Session, reason: string, { isLost = true } = {}): void {
    if (former !== session) return;
    lastFailure = reason;
    if (isLost) {
      session = undefined;
      former.destroy();
    }
    if (isConnecting) return;
    isConnecting = true;
    void connectWithRetry();
  }

  /** While a name moves to another server, the two sockets may lead to different ones. */
  async function inspectBoth({ runOnWriter, runOnReader }: Session) {
    const [server, other] = await Promise.all([runOnWriter(inspect), runOnReader(inspect)]);
    if (server.runId !== other.runId)
      throw new StoreUnavailable('Redis failed: it is not the primary');
    const now = performance.now();
    const isOther = server.runId !== lastRunId;
    // A replica that went offline may have become the primary. Sentinel reconfigures the others within seconds.
    if (isOther || server.replicas >= requiredReplicas || now - requiredAt > 15_000) {
      requiredReplicas = Math.max(server.replicas, Math.min(requiredReplicas, 1));
      requiredAt = now;
    }
    return server;
  }

  async function connect(): Promise<void> {
    const next = createSession(await locate());
    using onFailure = new DisposableStack();
    onFailure.defer(next.destroy);
    await next.connect();
    const { problem, runId, appendOnlyFile } = await inspectBoth(next);
    if (problem) throw new WrongServer(problem);
    if (!appendOnlyFile && requiredReplicas === 0) onProblem(NOT_DURABLE);
    // Not by the reader: Redis closes a subscribed socket on which too many replies wait.
    for (const [channel, listener] of subscriptions)
      await next.runOnWriter((redis) => redis.subscribe(channel, listener));
    if (isClosed) throw outOfReach();
    onFailure.move();
    // A session that is replaced on the same server was still subscribed.
    const hasGap = lastRunId !== undefined && !(session && runId === lastRunId);
    // Late replies of another server are not about this log.
    if (hasGap) session?.destroy();
    else void session?.close();
    session = next;
    lastRunId = runId;
    if (hasGap) onGap?.();
    // A server that is full rejects this. It can be read meanwhile, and trimmed.
    if (appendOnlyFile && !(await repairAppendOnlyFile(next.runOnWriter, runId)))
      onProblem('Redis was restarted and did not rewrite its append-only file: run BGREWRITEAOF');
    if (next !== session) throw outOfReach();
    isConnecting = false;
  }

  async function connectWithRetry(isStart = false): Promise<void> {
    const began = performance.now();
    for (let retry = 0; !isClosed; retry += 1) {
      // Full jitter: instances that lost the same server do not reconnect at the same time.
      await delay(Math.random() * Math.min(2_000, 50 * 2 ** retry));
      try {
        return await connect();
      } catch (error) {
        lastFailure = error instanceof StoreUnavailable ? error.message : reasonOf(error);
        if (!isStart) continue;
        // Reads work already, so the gateway starts. Retries go on in the background.
        if (session) return void connectWithRetry();
        if (error instanceof WrongServer) throw error;
        // A refusal is reported soon. Silence is given more time: machines are busy while everything starts.
        const limitMs = error instanceof StoreUnavailable ? 10_000 : 2_000;
        const message = `Redis, as REDIS_URL names it, cannot be reached: ${lastFailure}`;
        if (performance.now() - began > limitMs) throw new StoreUnavailable(message);
      }
    }
  }

  return {
    /** Redis publishes to all databases of a server, so channel names include this one. */
    database,
    onProblem,
    /** For reads, and for writes that need not survive a crash of the primary. */
    async run<Reply>(command: Command<Reply>): Promise<Reply> {
      if (!session) throw outOfReach();
      return session.runOnReader(command);
    },
    /** Resolves once the write survives a crash of the primary. */
    async runDurably<Reply>(command: Command<Reply>): Promise<Reply> {
      if (!session || isConnecting) throw outOfReach(StoreNotReached);
      return session.runOnWriter(async (redis) => {
        const wanted = requiredReplicas;
        if (wanted === 0) return command(redis);
        const [reply, confirmed] = await Promise.all([command(redis), redis.wait(wanted, WAIT_MS)]);
        // The server may be cut off, with one of its replicas as the primary.
        if (confirmed < wanted)
          throw new WrongServer(
            `${confirmed} of ${wanted} Redis replicas confirmed the write within ${WAIT_MS} ms`,
          );
        return reply;
      });
    },
    /** To be called before `open`. */
    subscribe: (channel: string, handle: (message: string) => unknown) =>
      void subscriptions.set(channel, handle),
    /** Called when messages may have been missed or lost, and can be sent again. */
    onGap: (listener: () => void) => void (onGap = listener),
    /** Notices a dead socket, changed replicas, and a setting with which the server must not be written to. */
    async inspectServer(): Promise<void> {
      const inspected = session;
      if (!inspected) return;
      const { problem, replicas } = await inspectBoth(inspected);
      // It may be cut off. An instance that only reads would miss all events of the new primary.
      const isCutOff = replicas < Math.min(requiredReplicas, 1);
      if (problem && !isConnecting) onProblem(problem);
      if (problem || isCutOff)
        replace(inspected, problem ?? 'no replica is online', { isLost: false });
    },
    /** Rejects if there is no server that can be used. */
    open: () => connectWithRetry(true),
    async close(): Promise<void> {
      isClosed = true;
      await session?.close();
    },
  };
}

/** A server that hangs keeps its socket open, and node-redis' timeout covers only the writing of a command. */
function within<Result>(promise: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new StoreUnavailable(NO_ANSWER)), DEADLINE_MS);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

/** A socket that is still being opened is destroyed once it is open. */
const destroy = (client: RedisClient) => client.once('connect', () => client.destroy()).destroy();

/**
 * The database, and a function that locates the primary, anew before every connection. node-redis' `createSentinel`
 * switches to a new primary before that one has been verified, and stays with an old primary that still answers. So a
 * Sentinel is only asked for the address, each time another one first: one that is cut off still names the old primary.
 */
function addressOf(url: string) {
  const [, tls, user = '', hosts, name = '', number = '0'] = SENTINEL_URL.exec(url) ?? [];
  if (hosts === undefined)
    return { database: new URL(url).pathname.slice(1) || '0', locate: async () => url };
  let sentinels = hosts
    .split(',')
    .map((host) => `redis${tls}://${/:\d+$/.test(host) ? host : `${host}:26379`}`);
  const question = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name];
  const locate = async () => {
    sentinels = [...sentinels.slice(1), ...sentinels.slice(0, 1)];
    for (const sentinel of sentinels) {
      const client = createBareClient(sentinel).on('error', () => {});
      const answer = client.connect().then(() => client.sendCommand<string[] | null>(question));
      const [host, port] = (await within(answer).catch(() => null)) ?? [];
      destroy(client);
      if (host === undefined) continue;
      return `redis${tls}://${user}${host.includes(':') ? `[${host}]` : host}:${port}/${number}`;
    }
    throw new StoreUnavailable('no Sentinel could name the primary');
  };
  return { database: number, locate };
}
