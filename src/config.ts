import { isLoopback, readAuth, type AuthConfig } from './config/auth.ts';
import { readLimits, type Limits } from './config/limits.ts';
import { readPartner, type PartnerConfig } from './config/partner.ts';
import { createReader, shown, type Environment, type Reader } from './config/reader.ts';

export { VARIABLES } from './config/variables.ts';
export { DEFAULT_LIMITS, type Limits } from './config/limits.ts';
export type { AuthConfig } from './config/auth.ts';
export type { PartnerConfig } from './config/partner.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const ALGORITHMS = ['sha256', 'sha384', 'sha512'] as const;
const ENCODINGS = ['hex', 'base64', 'base64url'] as const;
const MILLION = 1_000_000;

export interface HttpConfig {
  readonly port: number;
  readonly host: string;
  /** Browsers from these may call, over HTTP and WebSocket. Empty: same origin only. */
  readonly allowedOrigins: readonly string[];
  /** The IDE, and introspection with it. */
  readonly graphiql: boolean;
  /** Undefined: metrics are for loopback only. */
  readonly metricsToken: string | undefined;
}

/** How much the Partner API is asked at once. Undefined: no such limit. */
export interface UpstreamConfig {
  readonly maxConcurrency: number;
  readonly ratePerSecond: number | undefined;
  readonly dailyQuota: number | undefined;
  /** For an attempt that may be repeated. */
  readonly timeoutMs: number;
}

export interface OperationConfig {
  readonly maxUpstreamCalls: number;
  readonly maxEstimatedCalls: number;
  /** Of one look-up by id without a parent. */
  readonly lookupMaxCalls: number;
}

/** How the sender signs. The Partner API does not document it, so all of it can be set. */
export interface WebhookConfig {
  readonly header: string;
  readonly algorithm: (typeof ALGORITHMS)[number];
  readonly encoding: (typeof ENCODINGS)[number];
  readonly prefix: string;
  readonly previousSecret: string | undefined;
}

export type StoreConfig =
  | { readonly kind: 'embedded'; readonly dir: string }
  | { readonly kind: 'redis'; readonly url: string };

export interface Config {
  readonly http: HttpConfig;
  readonly partner: PartnerConfig;
  readonly upstream: UpstreamConfig;
  readonly operation: OperationConfig;
  readonly auth: AuthConfig;
  readonly webhook: WebhookConfig;
  /** Seal cursors. Without a secret, the partner's client secret does. */
  readonly ids: {
    readonly secret: string | undefined;
    readonly previousSecret: string | undefined;
  };
  readonly store: StoreConfig;
  /** For audit lines that nobody takes. */
  readonly spoolDir: string;
  readonly eventRetentionMs: number;
  readonly limits: Limits;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** The environment can't be used. One message for everything that is wrong with it; no secret is in it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'CONFIG';
}

export function readConfig(env: Environment): Config {
  const reader = createReader(env);
  const partner = readPartner(reader);
  const auth = readAuth(reader);
  const config: Config = {
    http: readHttp(reader, partner),
    partner,
    upstream: {
      maxConcurrency: reader.integer('PARTNER_MAX_CONCURRENCY', { min: 1, max: 10_000 }, 64),
      ratePerSecond: reader.integer('PARTNER_RATE_PER_SECOND', { min: 1, max: 100_000 }, undefined),
      dailyQuota: reader.integer(
        'PARTNER_DAILY_QUOTA',
        { min: 1, max: 1_000 * MILLION },
        undefined,
      ),
      timeoutMs: reader.integer('PARTNER_TIMEOUT_MS', { min: 100, max: 15_000 }, 5_000),
    },
    operation: {
      maxUpstreamCalls: reader.integer(
        'OPERATION_MAX_UPSTREAM_CALLS',
        { min: 1, max: MILLION },
        1_000,
      ),
      maxEstimatedCalls: reader.integer(
        'OPERATION_MAX_ESTIMATED_CALLS',
        { min: 1, max: 1_000 * MILLION },
        10_000,
      ),
      lookupMaxCalls: reader.integer('LOOKUP_MAX_CALLS', { min: 1, max: MILLION }, 100),
    },
    auth,
    webhook: readWebhook(reader),
    ids: {
      secret: reader.secret('ID_SECRET'),
      previousSecret: reader.secret('ID_SECRET_PREVIOUS'),
    },
    store: readStore(reader),
    spoolDir: readDir(reader),
    eventRetentionMs:
      reader.integer('EVENT_RETENTION_HOURS', { min: 1, max: 8_760 }, 168) * 3_600_000,
    limits: readLimits(reader),
    logLevel: reader.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
  };
  refuseStrangers(reader, config);

  if (reader.problems.length > 0)
    throw new ConfigError(`Configuration refused:\n- ${reader.problems.join('\n- ')}`);
  return config;
}

/** Without AUTH_* whoever asks sees everything: made-up patients on this machine, nothing else. */
function refuseStrangers(reader: Reader, { auth, partner, http }: Config): void {
  if (auth.kind !== 'open') return;
  if (partner.kind === 'real')
    reader.refuse(
      'AUTH_JWT_SECRET or AUTH_JWKS_URL must be set with PARTNER_BASE_URL, but neither is: anyone could read the records',
    );
  else if (!isLoopback(http.host))
    reader.refuse(
      `HOST must be a loopback address (127.0.0.1, ::1, localhost) while neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set, but got ${shown(http.host)}`,
    );
}

function readHttp(reader: Reader, partner: PartnerConfig): HttpConfig {
  const production = reader.text('NODE_ENV') === 'production';
  const metricsToken = reader.secret('METRICS_TOKEN');
  if (metricsToken !== undefined && !/^[\x21-\x7e]+$/.test(metricsToken))
    reader.refuse('METRICS_TOKEN must be printable ASCII without white space, but is not');
  return {
    port: reader.integer('PORT', { min: 0, max: 65_535 }, 4_000),
    host: reader.text('HOST') ?? (partner.kind === 'sandbox' ? '127.0.0.1' : '0.0.0.0'),
    allowedOrigins: readOrigins(reader),
    graphiql: reader.choice('GRAPHIQL', ['on', 'off'], production ? 'off' : 'on') === 'on',
    metricsToken,
  };
}

function readOrigins(reader: Reader): readonly string[] {
  const entries = (reader.text('ALLOWED_ORIGINS') ?? '').split(',').map((entry) => entry.trim());
  const given = entries.filter((entry) => entry !== '');
  const origins = given.map((entry) => {
    const url = URL.canParse(entry) ? new URL(entry) : undefined;
    return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url.origin : '';
  });
  const wrong = origins.findIndex((origin) => origin === '');
  if (wrong !== -1)
    reader.refuse(
      `ALLOWED_ORIGINS must be origins with commas between them (a scheme, a host, perhaps a port, and no path), but entry ${wrong + 1} is not one`,
    );
  return [...new Set(origins)];
}

function readWebhook(reader: Reader): WebhookConfig {
  const header = (reader.text('WEBHOOK_SIGNATURE_HEADER') ?? 'x-signature').toLowerCase();
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(header))
    reader.refuse(`WEBHOOK_SIGNATURE_HEADER must be a header's name, but got ${shown(header)}`);
  return {
    header,
    algorithm: reader.choice('WEBHOOK_SIGNATURE_ALGORITHM', ALGORITHMS, 'sha256'),
    encoding: reader.choice('WEBHOOK_SIGNATURE_ENCODING', ENCODINGS, 'hex'),
    prefix: reader.text('WEBHOOK_SIGNATURE_PREFIX') ?? '',
    previousSecret: reader.secret('WEBHOOK_SECRET_PREVIOUS'),
  };
}

const SENTINELS = /^rediss?\+sentinel:\/\/[^/]+\/[^/]+(\/\d+)?$/;

function readStore(reader: Reader): StoreConfig {
  const sentinels = reader.text('REDIS_URL');
  if (sentinels && SENTINELS.test(sentinels)) return { kind: 'redis', url: sentinels };
  const url = reader.url('REDIS_URL', ['redis:', 'rediss:']);
  return url ? { kind: 'redis', url: url.href } : { kind: 'embedded', dir: readDir(reader) };
}

const readDir = (reader: Reader): string => reader.text('EVENT_STORE_DIR') ?? '.data';
