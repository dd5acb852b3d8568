import type { output } from 'zod';
import { DEFAULT_LIMITS, ENVIRONMENT, isLoopback, described } from './config/environment.ts';

export { DEFAULT_LIMITS };
export type Limits = Readonly<Record<keyof typeof DEFAULT_LIMITS, number>>;
export type Environment = Readonly<Record<string, string | undefined>>;
export type AuthConfig = ReturnType<typeof toAuth>;
export type Config = ReturnType<typeof toConfig> & { readonly warnings: readonly string[] };

type Variables = output<typeof ENVIRONMENT>;
type Variable = keyof Variables;
export const VARIABLES = Object.keys(ENVIRONMENT.shape) as readonly Variable[];

/** The environment can't be used. The message lists everything that is wrong with it, without secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'CONFIG';
}

/** A blank variable is unset: compose files leave `NAME=` for what is not wanted. */
export function readConfig(env: Environment): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const { data, error } = ENVIRONMENT.safeParse(given);
  const invalid = (error?.issues ?? []).map(({ path, message }) => `${path.join()} ${message}`);
  const problems = [...invalid, ...conflictsIn(given)];
  if (!data || problems.length > 0)
    throw new ConfigError(`Configuration refused:\n- ${problems.join('\n- ')}`);
  return { ...toConfig(data), warnings: unknownIn(given) };
}

const CREDENTIALS = [
  'PARTNER_BASE_URL',
  'PARTNER_CLIENT_ID',
  'PARTNER_CLIENT_SECRET',
  'PARTNER_API_KEY',
] as const;

/** What is wrong with variables that are each valid alone. */
function conflictsIn(given: Partial<Record<Variable, string>>): readonly string[] {
  const problems: string[] = [];
  const missing = CREDENTIALS.filter((name) => !given[name]);
  const isSandbox = missing.length === CREDENTIALS.length;
  // All four or none. Half a set of credentials is a typing mistake, and falling back to the sandbox
  // then would show made-up patients to a real clinic.
  for (const name of isSandbox ? [] : missing)
    problems.push(`${name} must be set, but is not: set all of ${CREDENTIALS.join(', ')}, or none`);
  const usual = given.NODE_ENV?.trim() === 'production' ? 'off' : 'on';
  if (isSandbox && (given.SANDBOX?.trim() ?? usual) === 'off')
    problems.push(
      `${CREDENTIALS.join(', ')} must be set, or SANDBOX=on for made-up patients, but neither is`,
    );

  const { AUTH_JWT_SECRET, AUTH_JWKS_URL, HOST } = given;
  if (AUTH_JWT_SECRET && AUTH_JWKS_URL)
    problems.push('AUTH_JWT_SECRET and AUTH_JWKS_URL exclude each other, but both are set');
  // An issuer's keys sign tokens for other applications too.
  if (AUTH_JWKS_URL && !given.AUTH_AUDIENCE)
    problems.push('AUTH_AUDIENCE must be set with AUTH_JWKS_URL, but is not');
  if (AUTH_JWT_SECRET || AUTH_JWKS_URL) return problems;
  // An issuer or an audience alone verifies nothing, but looks as if tokens were verified.
  for (const name of ['AUTH_ISSUER', 'AUTH_AUDIENCE'] as const)
    if (given[name])
      problems.push(`${name} needs AUTH_JWT_SECRET or AUTH_JWKS_URL, but neither is set`);
  // Without AUTH_* every caller sees everything, so the data must be made up and the host loopback.
  if (!isSandbox)
    problems.push(
      'AUTH_JWT_SECRET or AUTH_JWKS_URL must be set with PARTNER_BASE_URL, but neither is: anyone could read the records',
    );
  else if (HOST && !isLoopback(HOST.trim()))
    problems.push(
      `HOST must be a loopback address (127.0.0.1, ::1, localhost) while neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set, but got ${described(HOST.trim())}`,
    );
  return problems;
}

function toConfig(env: Variables) {
  const partner = toPartner(env);
  const isSandbox = partner.kind === 'sandbox';
  const isProduction = env.NODE_ENV === 'production';
  const dir = env.EVENT_STORE_DIR ?? (isSandbox ? undefined : '.data');
  return {
    http: {
      port: env.PORT,
      host: env.HOST ?? (isSandbox ? '127.0.0.1' : '0.0.0.0'),
      /** Browsers from these may call, over HTTP and WebSocket. Empty: same origin only. */
      allowedOrigins: env.ALLOWED_ORIGINS,
      /** Any `http://localhost:*` may call as well. */
      allowsLocalhost: isSandbox,
      /** Turns on GraphiQL and introspection. */
      graphiql: (env.GRAPHIQL ?? (isProduction ? 'off' : 'on')) === 'on',
      /** Undefined: metrics are for loopback only. */
      metricsToken: env.METRICS_TOKEN,
    },
    partner,
    /** Undefined: no such limit. */
    upstream: {
      maxConcurrency: env.PARTNER_MAX_CONCURRENCY,
      ratePerSecond: env.PARTNER_RATE_PER_SECOND,
      dailyQuota: env.PARTNER_DAILY_QUOTA,
      /** For an attempt that may be repeated. */
      timeoutMs: env.PARTNER_TIMEOUT_MS,
    },
    operation: {
      maxUpstreamCalls: env.OPERATION_MAX_UPSTREAM_CALLS,
      maxEstimatedCalls: env.OPERATION_MAX_ESTIMATED_CALLS,
      /** Calls of one look-up by id without a parent. */
      lookupMaxCalls: env.LOOKUP_MAX_CALLS,
    },
    auth: toAuth(env),
    webhook: {
      header: env.WEBHOOK_SIGNATURE_HEADER,
      algorithm: env.WEBHOOK_SIGNATURE_ALGORITHM,
      encoding: env.WEBHOOK_SIGNATURE_ENCODING,
      prefix: env.WEBHOOK_SIGNATURE_PREFIX,
      previousSecret: env.WEBHOOK_SECRET_PREVIOUS,
    },
    store: env.REDIS_URL
      ? { kind: 'redis' as const, url: env.REDIS_URL }
      : { kind: 'embedded' as const, dir },
    /** Where audit lines are spooled. If this and `store.dir` are undefined, a temporary folder is made at start. */
    spoolDir: dir,
    eventRetentionMs: env.EVENT_RETENTION_HOURS * 3_600_000,
    /** Secrets that sign global ids and cursors. Without one, the key is derived from the client secret. */
    ids: { secret: env.ID_SECRET, previousSecret: env.ID_SECRET_PREVIOUS },
    /** A JSON file, hash → document. */
    trustedDocuments: env.TRUSTED_DOCUMENTS,
    limits: {
      ...DEFAULT_LIMITS,
      bodyBytes: env.LIMIT_BODY_BYTES,
      documentCharacters: env.LIMIT_DOCUMENT_CHARACTERS,
      documentTokens: env.LIMIT_DOCUMENT_TOKENS,
      depth: env.LIMIT_DEPTH,
      aliases: env.LIMIT_ALIASES,
      operationMs: env.LIMIT_OPERATION_MS,
      operationsPerSocket: env.LIMIT_OPERATIONS_PER_SOCKET,
      socketsPerViewer: env.LIMIT_SOCKETS_PER_VIEWER,
    },
    logLevel: env.LOG_LEVEL,
  };
}

function toPartner(env: Variables) {
  const { PARTNER_BASE_URL: baseUrl, PARTNER_CLIENT_ID: clientId } = env;
  const { PARTNER_CLIENT_SECRET: clientSecret, PARTNER_API_KEY: apiKey } = env;
  if (!baseUrl || !clientId || !clientSecret || !apiKey)
    return { kind: 'sandbox' as const, pulseMs: env.SANDBOX_PULSE_MS };
  return { kind: 'real' as const, baseUrl, clientId, clientSecret, apiKey };
}

function toAuth(env: Variables) {
  /** Claims that a token must carry besides `sub`, `exp` and `grants`. Undefined ones are not checked. */
  const claims = { issuer: env.AUTH_ISSUER, audience: env.AUTH_AUDIENCE };
  const { AUTH_JWT_SECRET: secret, AUTH_JWKS_URL: url } = env;
  if (secret) return { kind: 'secret' as const, secret, ...claims };
  if (url) return { kind: 'jwks' as const, url, ...claims };
  return { kind: 'open' as const };
}

/** A mistyped variable would otherwise leave its default in force silently. */
function unknownIn(given: Environment): readonly string[] {
  const OURS = /^(PARTNER|LIMIT|OPERATION|AUTH|WEBHOOK|EVENT)_\w{1,64}$/;
  const unknown = Object.keys(given).filter(
    (name) => OURS.test(name) && !(name in ENVIRONMENT.shape),
  );
  return unknown.map((name) => {
    const [nearest] = VARIABLES.toSorted((a, b) => likeness(name, b) - likeness(name, a));
    return `${name} is not a known variable and has no effect. The nearest known one is ${nearest}.`;
  });
}

/** How many pairs of neighbouring letters of `a` are in `b` too. */
const likeness = (a: string, b: string): number =>
  Array.from(a, (_, at) => a.slice(at, at + 2)).filter((pair) => b.includes(pair)).length;
