import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { type Config, readConfig } from './config.ts';
import { createCursorCodec } from './connection/cursor.ts';
import { openHub } from './events/hub.ts';
import { createFreshness } from './freshness.ts';
import { createAudit } from './observability/audit.ts';
import { openAuditSpool } from './observability/audit-spool.ts';
import {
  ALL_TAKEN,
  type LineKeeping,
  checkLines,
  watchLines,
} from './observability/line-keeping.ts';
import { openLineOutput } from './observability/line-output.ts';
import { type Log, createLog } from './observability/log.ts';
import { createMetrics } from './observability/metrics.ts';
import { partnerObserver, watchPartner } from './observability/partner-observer.ts';
import { type Clock, steadily, systemClock } from './rest/clock.ts';
import { createPartner } from './rest/partner.ts';
import { openSandbox } from '../sandbox/sandbox.ts';
import { schema } from './schema/schema.ts';
import { type Gateway, createGateway } from './gateway/gateway.ts';
import { type Listening, listen } from './gateway/listen.ts';
import { createMilestones } from './store/milestones.ts';
import { createOnce } from './store/once.ts';
import { openStore } from './store/store.ts';
import { createAuthenticator } from './viewer/authenticate.ts';
import { createPlaceOf } from './viewer/place.ts';

export interface Server extends AsyncDisposable {
  readonly url: string;
  /** Resolves if the event store breaks for good: a new process may find the disk mended. */
  readonly broken: Promise<void>;
  /** Says that it is going, and still answers: whoever sends traffic needs a moment to hear of it. */
  retire(): void;
}

/** The whole house: configuration → parts → listening. Closing it finishes what is under way first. */
export async function openServer(
  config: Config,
  log: Log,
  clock: Clock = systemClock,
  lines: LineKeeping = ALL_TAKEN,
): Promise<Server> {
  const metrics = createMetrics();
  watchLines(lines, metrics);
  await using opened = new AsyncDisposableStack();

  const sandbox =
    config.partner.kind === 'sandbox'
      ? await openSandbox({ switches: { pulseMs: config.partner.pulseMs } })
      : undefined;
  if (sandbox) opened.defer(sandbox.close);
  const connection = config.partner.kind === 'real' ? config.partner : sandbox!.connection;

  const broken = Promise.withResolvers<void>();
  const store = opened.use(
    await openStore(config.store, {
      retentionMs: config.eventRetentionMs,
      onProblem: (message) => log.warn(message),
      onBroken: broken.resolve,
    }),
  );
  const partner = opened.use(
    createPartner(connection, {
      ...config.upstream,
      clock,
      observer: partnerObserver(log, metrics),
    }),
  );
  watchPartner(partner, metrics);
  const milestones = createMilestones(store.keys);
  const freshness = createFreshness(partner, store, milestones);
  let gateway: Gateway | undefined;
  const hub = opened.use(
    await openHub({
      log: store.log,
      before: freshness.heard,
      placeOf: createPlaceOf(store.lineage),
      async setAside(entry) {
        metrics.eventsPoisonous();
        log.error('an event could not be handled and is in quarantine', { reason: entry.reason });
        await store.quarantine.add(entry);
      },
      onProblem(problem, error) {
        log.warn('events: a problem', { reason: problem, error });
        if (problem === 'lost') gateway?.eventsLost();
      },
    }),
  );

  let listening: Listening | undefined;
  gateway = createGateway({
    config,
    schema,
    house: {
      partner,
      store,
      hub,
      milestones,
      freshness,
      once: createOnce(store.keys),
      cursors: createCursorCodec(connection.clientSecret),
      now: steadily(clock),
      audit: config.logLevel === 'silent' ? undefined : createAudit(log.audit, log.repeated.audit),
      isAuditKept: () => lines.problem() === undefined,
    },
    authenticator: createAuthenticator(config.auth, {
      now: clock.wallNow,
      elapsed: clock.now,
      onKeysUnavailable: () => log.error("the issuer's keys can't be had (AUTH_JWKS_URL)"),
    }),
    webhookSecret: connection.clientSecret,
    clock,
    log,
    metrics,
    checkAudit: () => checkLines(lines),
    isServing: () => listening?.isServing() ?? false,
  });
  listening = opened.use(
    await listen(gateway, config.http, config.limits, {
      callsAtOnce: config.upstream.maxConcurrency,
      onRefused: (count) => log.warn('connections refused: too many are open', { count }),
    }),
  );
  // Whoever has the port has the spool too: no two processes of a machine have the same.
  lines.keepIn(openAuditSpool(join(config.spoolDir, `audit-${config.http.port}.spool`)));
  sandbox?.deliverTo(`${listening.url}/webhooks`);

  const { url, retire } = listening;
  log.info(`serving ${url}/graphql`, { partner: config.partner.kind, store: config.store.kind });
  if (config.auth.kind === 'open') log.warn('no AUTH_* is set: everyone is a partner viewer');
  const parts = opened.move();
  return {
    url,
    broken: broken.promise,
    retire,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** How long load balancers may go on sending new requests after SIGTERM. */
const RETIREMENT_MS = 1_000;
/** In all. Kubernetes waits for 30 s, Docker for 10 s, unless told otherwise. */
const CLOSING_MS = 14_000;

/** In order, on a signal or when nothing can be relied on any more. A second signal is for whoever can't wait. */
function closeInOrder(server: Server, log: Log, lines: LineKeeping): void {
  let closing = false;
  const close = async (exitCode: 0 | 1, noticeMs = 0): Promise<void> => {
    if (closing) return;
    closing = true;
    setTimeout(() => process.exit(1), CLOSING_MS).unref();
    server.retire();
    await delay(noticeMs);
    await server[Symbol.asyncDispose]();
    await lines.close();
    process.exit(exitCode);
  };
  process.on('uncaughtException', (error) => {
    log.error('uncaught: closing', { error });
    void close(1);
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (closing) process.exit(1);
    log.info(`${signal}: closing`);
    void close(0, signal === 'SIGTERM' ? RETIREMENT_MS : 0);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  void server.broken.then(() => close(1));
}

if (import.meta.main) {
  try {
    const config = readConfig(process.env);
    const lines = openLineOutput();
    const log = createLog(config.logLevel, lines);
    closeInOrder(await openServer(config, log, systemClock, lines), log, lines);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
