import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

import type { Sandbox } from '../sandbox/sandbox.ts';
import { type Config, readConfig } from './config.ts';
import type { CursorPosition } from './connection/cursor.ts';
import { type EventPosition, openHub } from './events/event-hub.ts';
import { createInvalidation } from './invalidation.ts';
import { type Log, createLog } from './observability/log.ts';
import { createMetrics } from './observability/metrics.ts';
import { createLimitedLog, createPartnerObserver } from './observability/observers.ts';
import { type Output, openStdout } from './observability/output.ts';
import { systemClock } from './clock.ts';
import { createPartner } from './rest/partner.ts';
import { createSealer } from './sealed-text.ts';
import { type Gateway, createGateway } from './gateway/gateway.ts';
import { listen } from './gateway/listen.ts';
import { createMarks } from './store/marks.ts';
import { createRunOnce } from './store/idempotency.ts';
import { runEvery, openStore } from './store/store.ts';
import { createAuthenticator } from './viewer/authenticate.ts';
import { createRecentLists } from './resolvers/access/recent-lists.ts';
import { createPlaces } from './resolvers/lookup/places.ts';
import { createGlobalIds } from './schema/global-id.ts';

// Depending on the first requests, V8 may choose to allocate a part of each request in the old generation. Then requests
// stay in memory until a full garbage collection: a fifth more CPU for cached answers, and 100 MB.
setFlagsFromString('--no-allocation-site-pretenuring');
// The heap may double between two full collections. V8 may otherwise let it grow fourfold: 100 to 150 MB more.
setFlagsFromString('--heap-growing-percent=100');

export type Server = Awaited<ReturnType<typeof openServer>>;

/** The whole server: configuration, parts, listening. Closing it finishes running requests first. */
export async function openServer(config: Config, log: Log, clock = systemClock, output?: Output) {
  const metrics = createMetrics();
  metrics.watch(() => output?.counts() ?? { spooled: 0, lost: 0, dropped: 0 });
  await using opened = new AsyncDisposableStack();
  for (const warning of config.warnings) log.warn(warning);
  const dataDir = config.dataDir ?? opened.use(temporaryDir()).path;

  let sandbox: Sandbox | undefined;
  if (config.partner.kind === 'sandbox') {
    // Imported here, since in production it is not needed.
    const { openSandbox } = await import('../sandbox/sandbox.ts');
    const { pulseMs } = config.partner;
    sandbox = await openSandbox({ switches: { pulseMs }, signature: config.webhook });
    opened.defer(sandbox.close);
  }
  const connection = config.partner.kind === 'real' ? config.partner : sandbox!.connection;

  const { secret = connection.clientSecret, previousSecret } = config.ids;
  // Without ID_SECRET the client secret is used. While that one is rotated, the webhooks' previous secret is its old value.
  const oldSecret =
    previousSecret ?? (config.ids.secret ? undefined : config.webhook.previousSecret);
  const sealerFor = <T>(purpose: string) => createSealer<T>(secret, purpose, oldSecret);

  const storeOptions = { retentionMs: config.eventRetentionMs, onProblem: log.warn };
  const store = opened.use(await openStore(config.redisUrl, dataDir, storeOptions));
  opened.use(runEvery(60_000, store.log.trim));
  const observer = createPartnerObserver(log, metrics);
  const partner = opened.use(createPartner(connection, { ...config.upstream, clock, observer }));
  metrics.watch(partner.state);
  const recentLists = createRecentLists(clock.now);
  const places = opened.use(createPlaces(store.keys));
  const invalidation = createInvalidation(partner, store.bus, recentLists.recordChange);
  let gateway: Gateway | undefined;
  const hub = opened.use(
    await openHub({
      log: store.log,
      cursors: sealerFor<EventPosition>('event position'),
      apply(event) {
        invalidation.apply(event);
        recentLists.recordEvent(event);
      },
      async addToQuarantine(entry) {
        metrics.eventsFailed();
        log.error('an event could not be handled and is in quarantine', { reason: entry.reason });
        await store.quarantine.add(entry);
      },
      onProblem: (reason, failure) => log.warn('events: a problem', { reason, ...failure }),
      onLost() {
        // Events may have been missed that would have invalidated some answers, or contradicted a list.
        partner.invalidateAll();
        recentLists.recordChange();
        gateway?.eventsLost();
      },
    }),
  );

  const writeLimited = createLimitedLog(log, 10_000);
  const shutdown = new AbortController();
  gateway = createGateway({
    config,
    services: {
      partner,
      store,
      hub,
      marks: createMarks(store.keys),
      invalidation,
      runOnce: opened.use(createRunOnce(store.keys, config.limits.operationMs)),
      cursors: sealerFor<CursorPosition>('list position'),
      ids: createGlobalIds(secret, oldSecret),
      recentLists,
      places,
      lookupMaxCalls: config.operation.lookupMaxCalls,
      audit: config.logLevel === 'silent' ? undefined : log.audit,
      auditProblem: () => output?.problem(),
    },
    authenticate: createAuthenticator(config.auth, clock, (reason) =>
      writeLimited('error', "the issuer's keys can't be fetched (AUTH_JWKS_URL)", { reason }),
    ),
    webhookSecret: connection.clientSecret,
    log,
    metrics,
    isServing: () => !shutdown.signal.aborted,
  });
  const { url } = opened.use(await listen(gateway, config, shutdown));
  // The spool file is named after the port, so two processes never share one.
  output?.openSpool(join(dataDir, `audit-${config.http.port}.spool`));
  sandbox?.deliverTo(`${url}/webhooks`);

  const storeKind = config.redisUrl ? 'redis' : 'embedded';
  log.info(`serving ${url}/graphql`, { partner: config.partner.kind, store: storeKind });
  if (config.auth.kind === 'open')
    log.warn('neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set: every caller is a partner viewer');
  return Object.assign(opened.move(), { url, broken: store.broken, shutdown });
}

/** The sandbox makes new sessions at every start, so its event log is temporary too. */
function temporaryDir() {
  const dir = mkdtempDisposableSync(join(tmpdir(), 'partner-graph-'));
  // Also on exit: a second SIGINT (`node --watch` repeats that of Ctrl-C) skips closing, and audit lines may be spooled last.
  process.once('exit', dir.remove);
  return dir;
}

/** Shuts down on a signal or when the store is broken. While it does so, SIGINT exits immediately. */
function shutDownOnSignal(server: Server, log: Log, output: Output): void {
  const { shutdown } = server;
  const close = async (exitCode: 0 | 1, noticeMs = 0): Promise<void> => {
    if (shutdown.signal.aborted) return;
    shutdown.abort();
    // By default Kubernetes waits for 30 s, Docker for 10 s.
    setTimeout(() => process.exit(1), 14_000).unref();
    await delay(noticeMs);
    await server[Symbol.asyncDispose]().catch((error: unknown) =>
      log.error('closing failed', { error }),
    );
    await output.close();
    process.exit(exitCode);
  };
  process.on('uncaughtException', (error) => {
    log.error('uncaught: closing', { error });
    void close(1);
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (shutdown.signal.aborted && signal === 'SIGINT') process.exit(1);
    if (shutdown.signal.aborted) return;
    log.info(`${signal}: closing`);
    // Load balancers may go on sending new requests for a second after SIGTERM.
    void close(0, signal === 'SIGTERM' ? 1_000 : 0);
  };
  process.off('SIGINT', endStart).off('SIGTERM', endStart);
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  void server.broken?.then(() => close(1));
}

/** Until the server has started. Process 1 of a container would otherwise ignore the signal. */
const endStart = () => process.exit(0);

if (import.meta.main) {
  process.on('SIGINT', endStart).on('SIGTERM', endStart);
  try {
    const config = readConfig(process.env);
    const output = openStdout();
    const log = createLog(config.logLevel, output);
    shutDownOnSignal(await openServer(config, log, systemClock, output), log, output);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // A pipe takes 64 KiB at once. A list of problems may be longer.
    process.stderr.write(`${message}\n`, () => process.exit(1));
  }
}
