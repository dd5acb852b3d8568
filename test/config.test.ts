import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../src/config.ts';

const SECRET = 'k'.repeat(32);
const REAL = {
  PARTNER_BASE_URL: 'https://api.example.com/v2',
  PARTNER_CLIENT_ID: 'client',
  PARTNER_CLIENT_SECRET: 'client-secret-value',
  PARTNER_API_KEY: 'api-key-value',
  AUTH_JWT_SECRET: SECRET,
};

function refusal(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('defaults', () => {
  it('needs no variable at all: the sandbox, on loopback, with an embedded log', () => {
    expect(readConfig({})).toEqual({
      http: {
        port: 4000,
        host: '127.0.0.1',
        allowedOrigins: [],
        allowsLocalhost: true,
        graphiql: true,
        metricsToken: undefined,
      },
      partner: { kind: 'sandbox', pulseMs: 8_000 },
      upstream: {
        maxConcurrency: 64,
        ratePerSecond: undefined,
        dailyQuota: undefined,
        timeoutMs: 5_000,
      },
      operation: { maxUpstreamCalls: 1_000, maxEstimatedCalls: 10_000, lookupMaxCalls: 100 },
      auth: { kind: 'open' },
      webhook: {
        header: 'x-signature',
        algorithm: 'sha256',
        encoding: 'hex',
        prefix: '',
        previousSecret: undefined,
      },
      redisUrl: undefined,
      dataDir: undefined,
      ids: { secret: undefined, previousSecret: undefined },
      trustedDocuments: undefined,
      eventRetentionMs: 168 * 3_600_000,
      limits: {
        bodyBytes: 262_144,
        unreadCharacters: 67_108_864,
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
      },
      logLevel: 'info',
      warnings: [],
    });
  });

  it('treats a blank variable as unset', () => {
    expect(readConfig({ PORT: '', PARTNER_BASE_URL: ' ', AUTH_JWT_SECRET: '' })).toEqual(
      readConfig({}),
    );
  });

  it('turns GraphiQL off in production, unless it is set', () => {
    const production = { ...REAL, NODE_ENV: 'production' };
    expect(readConfig(production).http.graphiql).toBe(false);
    expect(readConfig({ ...production, GRAPHIQL: 'on' }).http.graphiql).toBe(true);
    expect(readConfig({ GRAPHIQL: 'off' }).http.graphiql).toBe(false);
  });

  it('needs SANDBOX=on for the sandbox in production', () => {
    const problem = 'must be set, or SANDBOX=on for made-up patients, but neither is';
    expect(refusal({ NODE_ENV: 'production' })).toContain(problem);
    expect(refusal({ NODE_ENV: ' production ' })).toContain(problem);
    expect(refusal({ SANDBOX: 'off' })).toContain(problem);
    expect(refusal({ NODE_ENV: 'production', SANDBOX: 'on' })).toBe('');
    expect(refusal({ ...REAL, NODE_ENV: 'production' })).toBe('');
  });

  it('stores events in .data with the real Partner API, and allows no localhost origin', () => {
    const { http, dataDir } = readConfig(REAL);
    expect(dataDir).toBe('.data');
    expect(http.allowsLocalhost).toBe(false);
    expect(readConfig({ EVENT_STORE_DIR: 'events' }).dataDir).toBe('events');
  });

  it('listens on all interfaces with the real Partner API', () => {
    const { http, partner } = readConfig(REAL);
    expect(http.host).toBe('0.0.0.0');
    expect(partner).toEqual({
      kind: 'real',
      baseUrl: 'https://api.example.com/v2',
      clientId: 'client',
      clientSecret: 'client-secret-value',
      apiKey: 'api-key-value',
    });
  });
});

describe('the partner', () => {
  it('drops a slash after the base URL', () => {
    const config = readConfig({ ...REAL, PARTNER_BASE_URL: 'https://api.example.com/x/v2/' });
    expect(config.partner).toMatchObject({ baseUrl: 'https://api.example.com/x/v2' });
  });

  it.each([
    'PARTNER_BASE_URL',
    'PARTNER_CLIENT_ID',
    'PARTNER_CLIENT_SECRET',
    'PARTNER_API_KEY',
  ] as const)('is refused without %s', (name) => {
    expect(refusal({ ...REAL, [name]: '' })).toContain(
      `${name} must be set, but is not: set all of`,
    );
  });

  it.each([
    ['https://api.example.com', 'must end in /v2, but does not'],
    ['https://api.example.com/v1', 'must end in /v2, but does not'],
    ['https://api.example.com/v2/clinics', 'must end in /v2, but does not'],
    ['https://api.example.com/v2?a=b', 'must end in /v2, but does not'],
    ['https://api.example.com/?a=/v2', 'must end in /v2, but does not'],
    ['https://user:hunter22@api.example.com/v2', 'must hold no credentials'],
    ['http://api.example.com/v2', 'must be https (http for loopback only), but is http'],
    ['ftp://api.example.com/v2', 'must be an https:// or http:// URL, but is not'],
    ['api.example.com/v2', 'must be an https:// or http:// URL'],
    ['/v2', 'must be an https:// or http:// URL'],
  ])('is refused at %s', (url, problem) => {
    const message = refusal({ ...REAL, PARTNER_BASE_URL: url });
    expect(message).toContain(`PARTNER_BASE_URL ${problem}`);
    expect(message).not.toContain('hunter22');
  });
});

describe('viewers', () => {
  it('must be authenticated with a real Partner API', () => {
    expect(refusal({ ...REAL, AUTH_JWT_SECRET: '' })).toContain(
      'AUTH_JWT_SECRET or AUTH_JWKS_URL must be set with PARTNER_BASE_URL, but neither is',
    );
  });

  it('must be authenticated on other hosts, even with the sandbox', () => {
    expect(refusal({ HOST: '0.0.0.0' })).toContain('HOST must be a loopback address');
    expect(readConfig({ HOST: '0.0.0.0', AUTH_JWT_SECRET: SECRET }).http.host).toBe('0.0.0.0');
    for (const host of ['localhost', '::1', '127.0.0.2'])
      expect(readConfig({ HOST: host }).http.host).toBe(host);
    expect(readConfig({ HOST: '[::1]' }).http.host).toBe('::1');
  });

  it('have tokens signed with at least 32 bytes', () => {
    expect(readConfig({ AUTH_JWT_SECRET: SECRET }).auth).toMatchObject({ kind: 'secret' });
    expect(readConfig({ AUTH_JWT_SECRET: 'é'.repeat(16) }).auth).toMatchObject({ kind: 'secret' });
    expect(refusal({ AUTH_JWT_SECRET: 'k'.repeat(31) })).toContain(
      'AUTH_JWT_SECRET must have at least 32 bytes, but has 31',
    );
  });

  it('have tokens verified by a secret or by the keys of a URL, not both', () => {
    const url = 'https://id.example.com/keys';
    const claims = { AUTH_ISSUER: 'me', AUTH_AUDIENCE: 'gateway' };
    expect(readConfig({ AUTH_JWKS_URL: url, ...claims }).auth).toEqual({
      kind: 'jwks',
      url,
      issuer: 'me',
      audience: 'gateway',
    });
    expect(refusal({ AUTH_JWKS_URL: url, AUTH_ISSUER: 'me' })).toContain(
      'AUTH_AUDIENCE must be set with AUTH_JWKS_URL, but is not',
    );
    expect(refusal({ AUTH_JWKS_URL: url, AUTH_JWT_SECRET: SECRET })).toContain(
      'exclude each other',
    );
  });

  it('have their keys over https, loopback aside', () => {
    expect(refusal({ AUTH_JWKS_URL: 'http://id.example.com/keys' })).toContain('must be https');
    const env = { AUTH_JWKS_URL: 'http://127.0.0.1:9/keys', AUTH_AUDIENCE: 'gateway' };
    expect(readConfig(env).auth.kind).toBe('jwks');
  });
});

describe('single variables', () => {
  it.each([
    ['PORT', '0', '65535', '65536'],
    ['PARTNER_MAX_CONCURRENCY', '1', '10000', '0'],
    ['PARTNER_TIMEOUT_MS', '100', '15000', '15001'],
    ['OPERATION_MAX_UPSTREAM_CALLS', '1', '1000000', '-1'],
    ['EVENT_RETENTION_HOURS', '1', '8760', '1.5'],
    ['LIMIT_DEPTH', '1', '50', 'twelve'],
    ['SANDBOX_PULSE_MS', '0', '3600000', '1e3'],
  ])('%s takes %s to %s and refuses %s', (name, least, most, wrong) => {
    expect(refusal({ [name]: least })).toBe('');
    expect(refusal({ [name]: most })).toBe('');
    expect(refusal({ [name]: wrong })).toContain(
      `${name} must be a whole number between ${least} and ${most}, but got "${wrong}"`,
    );
  });

  it.each([
    ['WEBHOOK_SIGNATURE_ALGORITHM', 'md5', 'sha256, sha384, sha512'],
    ['WEBHOOK_SIGNATURE_ENCODING', 'utf8', 'hex, base64, base64url'],
    ['GRAPHIQL', 'yes', 'on, off'],
    ['LOG_LEVEL', 'loud', 'debug, info, warn, error, silent'],
  ])('%s refuses %s', (name, value, choices) => {
    expect(refusal({ [name]: value })).toContain(
      `${name} must be one of ${choices}, but got "${value}"`,
    );
  });

  it.each(['ID_SECRET', 'ID_SECRET_PREVIOUS'])('%s has at least 32 bytes', (name) => {
    expect(refusal({ [name]: 'k'.repeat(32) })).toBe('');
    expect(refusal({ [name]: 'k'.repeat(31) })).toContain(
      `${name} must have at least 32 bytes, but has 31`,
    );
  });

  it('METRICS_TOKEN has at least 16 characters, which a header can hold', () => {
    expect(refusal({ METRICS_TOKEN: 'k'.repeat(16) })).toBe('');
    expect(refusal({ METRICS_TOKEN: 'k'.repeat(15) })).toContain(
      'METRICS_TOKEN must have at least 16 characters, but has 15',
    );
    expect(refusal({ METRICS_TOKEN: `“${'k'.repeat(16)}”` })).toContain(
      'METRICS_TOKEN must be printable ASCII',
    );
  });

  it('reads the limit of look-ups, the trusted documents and the secrets of ids', () => {
    const { operation, ids, trustedDocuments } = readConfig({
      LOOKUP_MAX_CALLS: '7',
      TRUSTED_DOCUMENTS: 'documents.json',
      ID_SECRET: SECRET,
      ID_SECRET_PREVIOUS: `${SECRET}!`,
    });
    expect(operation.lookupMaxCalls).toBe(7);
    expect(trustedDocuments).toBe('documents.json');
    expect(ids).toEqual({ secret: SECRET, previousSecret: `${SECRET}!` });
  });

  it('lower-cases the name of the signature’s header, and rejects an invalid one', () => {
    const { webhook } = readConfig({ WEBHOOK_SIGNATURE_HEADER: 'X-Hub-Signature' });
    expect(webhook.header).toBe('x-hub-signature');
    expect(refusal({ WEBHOOK_SIGNATURE_HEADER: 'x signature' })).toContain("a header's name");
  });

  it('keeps the space at the end of a signature’s prefix', () => {
    const { webhook } = readConfig({ WEBHOOK_SIGNATURE_PREFIX: 'Signature \n' });
    expect(webhook.prefix).toBe('Signature ');
  });

  it.each([' sha256=', 'sha\n256=', 'sha256é='])('refuses %j, which no header has', (prefix) => {
    expect(refusal({ WEBHOOK_SIGNATURE_PREFIX: prefix })).toContain(
      'WEBHOOK_SIGNATURE_PREFIX must be printable ASCII and not begin with a space',
    );
  });

  it('reads origins with commas between them', () => {
    const env = { ALLOWED_ORIGINS: 'https://a.example, http://localhost:3000/,https://a.example' };
    expect(readConfig(env).http.allowedOrigins).toEqual([
      'https://a.example',
      'http://localhost:3000',
    ]);
  });

  it.each([
    '*',
    'null',
    'a.example',
    'https://a.example/path',
    'ftp://a.example',
    'https://u@b.c',
    'https://*.a.example',
  ])('refuses the origin %s', (origin) => {
    expect(refusal({ ALLOWED_ORIGINS: `https://ok.example,${origin}` })).toContain(
      'ALLOWED_ORIGINS must be origins',
    );
  });

  it('names every wrong entry of a list of origins by its position, without its text', () => {
    const message = refusal({
      ALLOWED_ORIGINS: 'a.example,https://ok.example,https://b.example/p',
    });
    expect(message).toMatch(/but these entries are not: 1, 3$/);
  });

  it('takes the URL of a Redis server or of Sentinels, and rejects others', () => {
    for (const url of ['rediss://user:password@redis.example:6380/1', 'redis://localhost/'])
      expect(readConfig({ REDIS_URL: url }).redisUrl).toBe(url);
    const sentinels = 'redis+sentinel://:password@one.example,two.example:26380/main/1';
    expect(readConfig({ REDIS_URL: sentinels }).redisUrl).toBe(sentinels);
    for (const wrong of [
      'http://redis.example',
      'redis://redis.example/main',
      'redis://redis.example:99999',
      'redis://:password@',
      'redis://:50%off@redis.example',
      'redis+sentinel://one.example',
      'redis+sentinel://one.example/main/one',
    ])
      expect(refusal({ REDIS_URL: wrong })).toContain(
        'REDIS_URL must be redis://host:6379/0 (or rediss://) or redis+sentinel://host,host/name/0, but is not',
      );
  });
});

it('warns about a variable that it does not know, without its value', () => {
  const env = { PARTNER_TIMEOUT: 'value', LIMIT_DEPHT: '9', TRUSTED_DOCUMENT: 'x', PATH: '/bin' };
  expect(readConfig(env).warnings).toEqual([
    'PARTNER_TIMEOUT is not a known variable and has no effect.',
    'LIMIT_DEPHT is not a known variable and has no effect.',
    'TRUSTED_DOCUMENT is not a known variable and has no effect.',
  ]);
});

it('names every problem in one message', () => {
  const message = refusal({ PORT: 'x', LOG_LEVEL: 'loud', REDIS_URL: 'x', AUTH_JWT_SECRET: 'y' });
  for (const name of ['PORT', 'LOG_LEVEL', 'REDIS_URL', 'AUTH_JWT_SECRET'])
    expect(message).toContain(`\n- ${name} must`);
});

it('never shows a secret, wherever it was pasted', () => {
  const secret = 'sk_live_0123456789_abcdefghij';
  const names = ['PORT', 'LOG_LEVEL', 'REDIS_URL', 'PARTNER_BASE_URL', 'ALLOWED_ORIGINS', 'HOST'];
  const message = refusal({
    ...Object.fromEntries(names.map((name) => [name, secret])),
    AUTH_JWT_SECRET: `${secret}\n`,
    METRICS_TOKEN: `${secret} ${secret}`,
    PARTNER_API_KEY: `${secret}\u00e9`,
  });
  expect(message).toContain('AUTH_JWT_SECRET must not begin or end with white space');
  expect(message).not.toContain(secret);
});
