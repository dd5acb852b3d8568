import { z } from 'zod';

/** What one request may ask for. Anything over a limit is rejected before it costs a call upstream. */
export const DEFAULT_LIMITS = {
  bodyBytes: 262_144,
  webhookBytes: 262_144,
  frameBytes: 65_536,
  documentCharacters: 15_000,
  documentTokens: 1_000,
  depth: 24,
  aliases: 30,
  rootFields: 30,
  directives: 20,
  operationMs: 15_000,
  headersMs: 10_000,
  requestMs: 30_000,
  socketInitMs: 3_000,
  socketPingMs: 12_000,
  socketMessages: 120,
  socketMessagesWindowMs: 10_000,
  socketQueueEvents: 256,
  socketQueueBytes: 1_048_576,
  operationsPerSocket: 50,
  socketsPerViewer: 20,
};

export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/** A long value in the wrong place may be a secret that was pasted there: it is described, not quoted. */
export function described(value: unknown): string {
  const text = String(value);
  return text.length <= 24 ? JSON.stringify(text) : `${text.length} characters`;
}

const must = (wanted: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    `must be ${wanted}, but got ${described(input)}`,
});

const text = z.string().trim();

const integer = (min: number, max: number) =>
  text
    .refine(
      (value) => /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max,
      must(`a whole number between ${min} and ${max}`),
    )
    .transform(Number);

const choice = <const Choices extends readonly string[]>(choices: Choices) =>
  text.pipe(z.enum(choices, must(`one of ${choices.join(', ')}`)));

/** Used unchanged, since its bytes must match the other side's. Messages never contain its value. */
const secret = (min = 1, unit = 'bytes') =>
  z
    .string()
    .refine(
      (value) => value === value.trim(),
      'must not begin or end with white space, but it does (a copied line break?)',
    )
    .refine((value) => Buffer.byteLength(value) >= min, {
      error: ({ input }) =>
        `must have at least ${min} ${unit}, but has ${Buffer.byteLength(String(input))}`,
    });

/** An absolute URL, or what `also` matches. Messages never contain its value: a URL may hold a password. */
const url = (protocols: readonly string[], also?: RegExp) =>
  text.refine(
    (value) => {
      const parsed = URL.parse(value);
      return also?.test(value) || (protocols.includes(parsed?.protocol ?? '') && parsed?.hostname);
    },
    {
      abort: true,
      error({ input }) {
        const protocol = URL.parse(String(input))?.protocol;
        const got = protocol ? `one that begins with ${described(protocol)}` : 'something else';
        return `must be an absolute URL (${protocols.map((p) => `${p}//`).join(' or ')}), but got ${got}`;
      },
    },
  );

const httpsUrl = url(['https:', 'http:'])
  .transform((value) => new URL(value))
  .refine(
    ({ protocol, hostname }) => protocol === 'https:' || isLoopback(hostname),
    'must be https (http for loopback only), but is http',
  )
  .refine(
    ({ username, password }) => username === '' && password === '',
    'must hold no credentials, but has a user name or password',
  );

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/$/, '');
// Without the version segment every route answers 403 "Missing Authentication Token", which sends
// people looking for a fault in their credentials.
const baseUrl = httpsUrl
  .refine(({ search, hash }) => !search && !hash, 'must end in /v2, but has a query or fragment')
  .refine((value) => pathOf(value).endsWith('/v2'), {
    error: ({ input }) =>
      `must end in /v2, but its path ends in ${described(pathOf(input as URL).replace(/.*(?=\/)/, '') || '/')}`,
  })
  .transform((value) => value.origin + pathOf(value));

const originOf = (entry: string): string | undefined => {
  const parsed = URL.parse(entry);
  const isOrigin = parsed && /^https?:$/.test(parsed.protocol);
  return isOrigin && parsed.href === `${parsed.origin}/` ? parsed.origin : undefined;
};
const origins = text.transform((list, ctx) => {
  const entries = list.split(',').filter((entry) => entry.trim() !== '');
  const found = entries.map((entry) => originOf(entry.trim()));
  if (found.includes(undefined))
    ctx.addIssue(
      `must be origins with commas between them (a scheme, a host, perhaps a port, and no path), but entry ${found.indexOf(undefined) + 1} is not one`,
    );
  return [...new Set(found.filter((origin) => origin !== undefined))];
});

const SENTINELS = /^rediss?\+sentinel:\/\/[^/]+\/[^/]+(\/\d+)?$/;
const switched = choice(['on', 'off']);

/** Every environment variable, without blank ones. A test looks each of them up in the README. */
export const ENVIRONMENT = z.object({
  PORT: integer(0, 65_535).default(4_000),
  HOST: text.optional(),
  NODE_ENV: text.optional(),
  SANDBOX: switched.optional(),
  SANDBOX_PULSE_MS: integer(0, 3_600_000).default(8_000),
  PARTNER_BASE_URL: baseUrl.optional(),
  PARTNER_CLIENT_ID: text.optional(),
  PARTNER_CLIENT_SECRET: secret().optional(),
  PARTNER_API_KEY: secret()
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII, as it is sent in a header, but is not')
    .optional(),
  PARTNER_MAX_CONCURRENCY: integer(1, 10_000).default(64),
  PARTNER_RATE_PER_SECOND: integer(1, 100_000).optional(),
  PARTNER_DAILY_QUOTA: integer(1, 1_000_000_000).optional(),
  PARTNER_TIMEOUT_MS: integer(100, 15_000).default(5_000),
  OPERATION_MAX_UPSTREAM_CALLS: integer(1, 1_000_000).default(1_000),
  OPERATION_MAX_ESTIMATED_CALLS: integer(1, 1_000_000_000).default(10_000),
  LOOKUP_MAX_CALLS: integer(1, 1_000_000).default(100),
  // An HS256 secret shorter than the hash can be guessed offline from a single token.
  AUTH_JWT_SECRET: secret(32).optional(),
  AUTH_JWKS_URL: httpsUrl.transform(({ href }) => href).optional(),
  AUTH_ISSUER: text.optional(),
  AUTH_AUDIENCE: text.optional(),
  ALLOWED_ORIGINS: origins.default([]),
  // How the sender signs. The Partner API does not document it, so all of it can be set.
  WEBHOOK_SIGNATURE_HEADER: text
    .toLowerCase()
    .regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, must("a header's name"))
    .default('x-signature'),
  WEBHOOK_SIGNATURE_ALGORITHM: choice(['sha256', 'sha384', 'sha512']).default('sha256'),
  WEBHOOK_SIGNATURE_ENCODING: choice(['hex', 'base64', 'base64url']).default('hex'),
  WEBHOOK_SIGNATURE_PREFIX: text.default(''),
  WEBHOOK_SECRET_PREVIOUS: secret().optional(),
  EVENT_STORE_DIR: text.optional(),
  EVENT_RETENTION_HOURS: integer(1, 8_760).default(168),
  REDIS_URL: url(['redis:', 'rediss:'], SENTINELS).optional(),
  ID_SECRET: secret(32).optional(),
  ID_SECRET_PREVIOUS: secret(32).optional(),
  TRUSTED_DOCUMENTS: text.optional(),
  GRAPHIQL: switched.optional(),
  METRICS_TOKEN: secret(16, 'characters')
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without white space, but is not')
    .optional(),
  LOG_LEVEL: choice(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  LIMIT_BODY_BYTES: integer(1_024, 16_777_216).default(DEFAULT_LIMITS.bodyBytes),
  LIMIT_DOCUMENT_CHARACTERS: integer(100, 1_000_000).default(DEFAULT_LIMITS.documentCharacters),
  LIMIT_DOCUMENT_TOKENS: integer(10, 100_000).default(DEFAULT_LIMITS.documentTokens),
  LIMIT_DEPTH: integer(1, 50).default(DEFAULT_LIMITS.depth),
  LIMIT_ALIASES: integer(0, 1_000).default(DEFAULT_LIMITS.aliases),
  LIMIT_OPERATION_MS: integer(100, 600_000).default(DEFAULT_LIMITS.operationMs),
  LIMIT_OPERATIONS_PER_SOCKET: integer(1, 10_000).default(DEFAULT_LIMITS.operationsPerSocket),
  LIMIT_SOCKETS_PER_VIEWER: integer(1, 1_000_000).default(DEFAULT_LIMITS.socketsPerViewer),
});
