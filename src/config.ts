import { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Config = ReturnType<typeof settings> & { readonly warnings: readonly string[] };
/** What one request or connection may use. */
export type Limits = Readonly<Config['limits']>;

/** The environment can't be used. The message lists everything that is wrong with it, without secrets. */
export class ConfigError extends Error {}

/** Unknown variables with these prefixes cause a warning. Not `REDIS_` and the like, which Kubernetes sets itself. */
const OUR_PREFIXES =
  /^(PARTNER|LIMIT|OPERATION|AUTH|WEBHOOK|EVENT|ALLOWED|LOOKUP|METRICS|SANDBOX|TRUSTED)_\w{1,64}$/;

/** A blank variable is unset: compose files leave `NAME=` for what is not wanted. */
export function readConfig(env: Environment): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const problems: string[] = [];
  const known = new Set<string>();
  const read: Read = (name, type) => {
    known.add(name);
    const { data, error } = type.safeParse(given[name]);
    for (const { message } of error?.issues ?? []) problems.push(`${name} ${message}`);
    return data!;
  };
  const config = settings(read, given, problems);
  if (problems.length > 0)
    throw new ConfigError(['Configuration refused:', ...problems].join('\n- '));
  // A mistyped variable would otherwise leave its default in force silently.
  const unknown = Object.keys(given).filter((name) => OUR_PREFIXES.test(name) && !known.has(name));
  const warnings = unknown.map((name) => `${name} is not a known variable and has no effect.`);
  return { ...config, warnings };
}

const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/** A long value in the wrong place may be a secret that was pasted there: it is described, not quoted. */
function describe(value: unknown): string {
  const text = String(value);
  return text.length <= 24 ? JSON.stringify(text) : `${text.length} characters`;
}

const must = (wanted: string) => ({
  error: ({ input }: { input?: unknown }) => `must be ${wanted}, but got ${describe(input)}`,
});

const CREDENTIALS = [
  'PARTNER_BASE_URL',
  'PARTNER_CLIENT_ID',
  'PARTNER_CLIENT_SECRET',
  'PARTNER_API_KEY',
] as const;

// The credentials are the only required variables, so this is their message: half a set is a typing mistake, and falling
// back to the sandbox then would show made-up patients to a real clinic.
const string = z.string(`must be set, but is not: set all of ${CREDENTIALS.join(', ')}, or none`);
const text = string.trim();

function integer(min: number, max: number) {
  const isWithin = (value: string) =>
    /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return text.refine(isWithin, must(`a whole number between ${min} and ${max}`)).transform(Number);
}

const choice = <const Choices extends readonly string[]>(...choices: Choices) =>
  text.pipe(z.enum(choices, must(`one of ${choices.join(', ')}`)));
const onOrOff = choice('on', 'off');
const algorithm = choice('sha256', 'sha384', 'sha512');
const encoding = choice('hex', 'base64', 'base64url');

/** Used unchanged, since its bytes must match the other side's. Messages never contain its value. */
const secret = (min = 1, unit = 'bytes') =>
  string
    .refine(
      (value) => value === value.trim(),
      'must not begin or end with white space, but it does (a copied line break?)',
    )
    .refine((value) => Buffer.byteLength(value) >= min, {
      error: ({ input }) =>
        `must have at least ${min} ${unit}, but has ${Buffer.byteLength(String(input))}`,
    });

/** An absolute URL. Messages never contain its value: a URL may hold a password. */
const httpsUrl = text
  .pipe(z.url({ protocol: /^https?$/, error: 'must be an https:// or http:// URL, but is not' }))
  .transform((value) => new URL(value))
  .refine(
    ({ protocol, hostname }) => protocol === 'https:' || isLoopback(hostname),
    'must be https (http for loopback only), but is http',
  )
  .refine(
    ({ username, password }) => username === '' && password === '',
    'must hold no credentials, but has a user name or password',
  );

const SENT_IN_HEADER = 'must be printable ASCII, as it is sent in a header, but is not';
const headerSecret = (min: number) =>
  secret(min, 'characters').regex(/^[\x20-\x7e]*$/, SENT_IN_HEADER);

// Without the version every route answers 403 "Missing Authentication Token", which looks like a fault in credentials.
const apiUrl = httpsUrl
  .transform(({ href }) => href.replace(/\/$/, ''))
  .refine((href) => /^[^?#]*\/v2$/.test(href), 'must end in /v2, but does not');

const isOrigin = (entry: string): boolean =>
  /^https?:\/\/[^/\\*@?#]+\/?$/i.test(entry) && URL.canParse(entry);
const origins = text.transform((list, ctx) => {
  const entries = list.split(',').flatMap((entry) => entry.trim() || []);
  const wrong = entries.flatMap((entry, index) => (isOrigin(entry) ? [] : [index + 1]));
  if (wrong.length > 0)
    ctx.addIssue(
      `must be origins with commas between them (a scheme, a host, perhaps a port, and no path), but these entries are not: ${wrong.join(', ')}`,
    );
  return [...new Set(entries.map((entry) => URL.parse(entry)?.origin ?? ''))];
});

/** An IPv6 address may have the brackets that it has in a URL. */
const host = text.transform((name) => name.replace(/^\[(.+)\]$/, '$1'));
/** It may end with a space. HTTP drops spaces at the beginning of a header, so a prefix that begins with one never matches. */
const signaturePrefix = z
  .string()
  .transform((prefix) => prefix.replace(/[\r\n]+$/, ''))
  .refine((prefix) => /^([!-~][ -~]*)?$/.test(prefix), {
    error:
      'must be printable ASCII and not begin with a space, as it is part of a header, but is not',
  });
const headerName = text.toLowerCase().regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, must("a header's name"));
/** `redis+sentinel://user:password@host:26379,host:26379/name/database`. No URL parser takes several hosts. */
export const SENTINEL_URL = /^redis(s?)\+sentinel:\/\/([^/]*@)?([^/@]+)\/([^/]+)(?:\/(\d+))?$/;
const SERVER_URL = /^rediss?:\/\/[^/]*[^/@]\/?\d*(\?.*)?$/;
const redisUrl = text.refine(
  (value) =>
    !/%(?![\da-f]{2})/i.test(value) &&
    (SENTINEL_URL.test(value) || (SERVER_URL.test(value) && URL.canParse(value))),
  'must be redis://host:6379/0 (or rediss://) or redis+sentinel://host,host/name/0, but is not',
);

/** Returns the variable's value. If it is invalid, a problem is added, and the result is never used. */
type Read = <T>(name: string, type: z.ZodType<T>) => T;

/** Every environment variable and what it sets. Adds to `problems` where valid variables contradict each other. */
function settings(read: Read, given: Environment, problems: string[]) {
  const onUnlessProduction = read('NODE_ENV', text.optional()) === 'production' ? 'off' : 'on';
  const sandbox = read('SANDBOX', onOrOff.default(onUnlessProduction));
  const partner = partnerOf(read, given);
  const isSandbox = partner.kind === 'sandbox';
  if (isSandbox && sandbox === 'off')
    problems.push(
      `${CREDENTIALS.join(', ')} must be set, or SANDBOX=on for made-up patients, but neither is`,
    );
  return {
    http: {
      port: read('PORT', integer(0, 65_535).default(4_000)),
      host: read('HOST', host.default(isSandbox ? '127.0.0.1' : '0.0.0.0')),
      /** Browsers from these may call, over HTTP and WebSocket. Empty: same origin only. */
      allowedOrigins: read('ALLOWED_ORIGINS', origins.default([])),
      /** Any `http://localhost:*` may call as well. */
      allowsLocalhost: isSandbox,
      /** Turns on GraphiQL and introspection. */
      graphiql: read('GRAPHIQL', onOrOff.default(onUnlessProduction)) === 'on',
      /** Undefined: metrics are for loopback only. */
      metricsToken: read('METRICS_TOKEN', headerSecret(16).optional()),
    },
    partner,
    /** Undefined: no such limit. */
    upstream: {
      maxConcurrency: read('PARTNER_MAX_CONCURRENCY', integer(1, 10_000).default(64)),
      ratePerSecond: read('PARTNER_RATE_PER_SECOND', integer(1, 100_000).optional()),
      dailyQuota: read('PARTNER_DAILY_QUOTA', integer(1, 1_000_000_000).optional()),
      /** For an attempt that may be repeated. */
      timeoutMs: read('PARTNER_TIMEOUT_MS', integer(100, 15_000).default(5_000)),
    },
    operation: {
      maxUpstreamCalls: read('OPERATION_MAX_UPSTREAM_CALLS', integer(1, 1_000_000).default(1_000)),
      maxEstimatedCalls: read(
        'OPERATION_MAX_ESTIMATED_CALLS',
        integer(1, 1_000_000_000).default(10_000),
      ),
      /** How many calls one look-up by id without a parent may make. */
      lookupMaxCalls: read('LOOKUP_MAX_CALLS', integer(1, 1_000_000).default(100)),
    },
    auth: authOf(read, given, problems, isSandbox),
    // How the sender signs. The Partner API does not document it, so all of it can be set.
    webhook: {
      header: read('WEBHOOK_SIGNATURE_HEADER', headerName.default('x-signature')),
      algorithm: read('WEBHOOK_SIGNATURE_ALGORITHM', algorithm.default('sha256')),
      encoding: read('WEBHOOK_SIGNATURE_ENCODING', encoding.default('hex')),
      prefix: read('WEBHOOK_SIGNATURE_PREFIX', signaturePrefix.default('')),
      previousSecret: read('WEBHOOK_SECRET_PREVIOUS', secret().optional()),
    },
    /** Undefined: the embedded store. */
    redisUrl: read('REDIS_URL', redisUrl.optional()),
    /** For the embedded store and spooled audit lines. Undefined: a temporary folder is made at start. */
    dataDir: read('EVENT_STORE_DIR', text.optional()) ?? (isSandbox ? undefined : '.data'),
    eventRetentionMs: read('EVENT_RETENTION_HOURS', integer(1, 8_760).default(168)) * 3_600_000,
    /** Secrets that sign global ids and cursors. Without one, the key is derived from the client secret. */
    ids: {
      secret: read('ID_SECRET', secret(32).optional()),
      previousSecret: read('ID_SECRET_PREVIOUS', secret(32).optional()),
    },
    /** A JSON file, hash → document. */
    trustedDocuments: read('TRUSTED_DOCUMENTS', text.optional()),
    limits: {
      bodyBytes: read('LIMIT_BODY_BYTES', integer(1_024, 16_777_216).default(262_144)),
      webhookBytes: 262_144,
      frameBytes: 65_536,
      documentCharacters: read(
        'LIMIT_DOCUMENT_CHARACTERS',
        integer(100, 1_000_000).default(15_000),
      ),
      documentTokens: read('LIMIT_DOCUMENT_TOKENS', integer(10, 100_000).default(1_000)),
      depth: read('LIMIT_DEPTH', integer(1, 50).default(24)),
      aliases: read('LIMIT_ALIASES', integer(0, 1_000).default(30)),
      rootFields: 30,
      directives: 20,
      operationMs: read('LIMIT_OPERATION_MS', integer(100, 600_000).default(15_000)),
      headersMs: 10_000,
      requestMs: 30_000,
      /** Total of a viewer's large responses that it has not read yet. */
      unreadCharacters: 64 * 2 ** 20,
      socketInitMs: 3_000,
      socketPingMs: 12_000,
      socketMessages: 120,
      socketMessagesWindowMs: 10_000,
      socketQueueEvents: 256,
      socketQueueBytes: 1_048_576,
      operationsPerSocket: read('LIMIT_OPERATIONS_PER_SOCKET', integer(1, 10_000).default(50)),
      socketsPerViewer: read('LIMIT_SOCKETS_PER_VIEWER', integer(1, 1_000_000).default(20)),
    },
    logLevel: read('LOG_LEVEL', choice('debug', 'info', 'warn', 'error', 'silent').default('info')),
  };
}

function partnerOf(read: Read, given: Environment) {
  const pulseMs = read('SANDBOX_PULSE_MS', integer(0, 3_600_000).default(8_000));
  if (!CREDENTIALS.some((name) => given[name])) return { kind: 'sandbox' as const, pulseMs };
  return {
    kind: 'real' as const,
    baseUrl: read('PARTNER_BASE_URL', apiUrl),
    clientId: read('PARTNER_CLIENT_ID', text),
    clientSecret: read('PARTNER_CLIENT_SECRET', secret()),
    apiKey: read('PARTNER_API_KEY', headerSecret(1)),
  };
}

function authOf(read: Read, given: Environment, problems: string[], isSandbox: boolean) {
  // An HS256 secret shorter than the hash can be guessed offline from a single token.
  const key = read('AUTH_JWT_SECRET', secret(32).optional());
  const jwksUrl = read('AUTH_JWKS_URL', httpsUrl.transform(({ href }) => href).optional());
  /** Claims that a token must carry besides `sub`, `exp` and `grants`. Undefined ones are not checked. */
  const claims = {
    issuer: read('AUTH_ISSUER', text.optional()),
    audience: read('AUTH_AUDIENCE', text.optional()),
  };
  const { AUTH_JWT_SECRET, AUTH_JWKS_URL, HOST = '127.0.0.1' } = given;
  if (AUTH_JWT_SECRET && AUTH_JWKS_URL)
    problems.push('AUTH_JWT_SECRET and AUTH_JWKS_URL exclude each other, but both are set');
  // An issuer's keys sign tokens for other applications too.
  if (AUTH_JWKS_URL && !claims.audience)
    problems.push('AUTH_AUDIENCE must be set with AUTH_JWKS_URL, but is not');
  // Without AUTH_* every caller sees everything, so the data must be made up and the host loopback.
  const isOpen = !AUTH_JWT_SECRET && !AUTH_JWKS_URL;
  if (isOpen && !isSandbox)
    problems.push(
      'AUTH_JWT_SECRET or AUTH_JWKS_URL must be set with PARTNER_BASE_URL, but neither is: anyone could read the records',
    );
  if (isOpen && isSandbox && !isLoopback(HOST.trim()))
    problems.push(
      `HOST must be a loopback address (127.0.0.1, ::1, localhost) while neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set, but got ${describe(HOST.trim())}`,
    );
  if (key) return { kind: 'secret' as const, secret: key, ...claims };
  if (jwksUrl) return { kind: 'jwks' as const, url: jwksUrl, ...claims };
  return { kind: 'open' as const };
}
