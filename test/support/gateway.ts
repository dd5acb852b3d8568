import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Limits, readConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Clock } from '../../src/clock.ts';
import { type Sandbox, openSandbox } from '../../sandbox/sandbox.ts';
import type { Switches } from '../../sandbox/sandbox.ts';
import { openServer } from '../../src/server.ts';

export interface GatewayOptions {
  /** Environment variables, which override the defaults of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  readonly switches?: Partial<Switches>;
  /** One that is running already, for several gateways on one Partner API. The caller closes it. */
  readonly sandbox?: Sandbox;
  /** Override the defaults, also those without a variable. */
  readonly limits?: Partial<Limits>;
  /** Gets every log line. */
  readonly onLog?: (line: string) => void;
  /** Keeps the embedded store of an earlier gateway. */
  readonly storeDir?: string;
  /** For tests that can't wait a minute. */
  readonly clock?: Clock;
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
type Json = any;

export interface GraphQLAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Json;
  readonly errors:
    | readonly { message: string; path?: readonly unknown[]; extensions: Json }[]
    | undefined;
  readonly extensions: Json;
}

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly sandbox: Sandbox;
  readonly storeDir: string;
  query(
    document: string,
    variables?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<GraphQLAnswer>;
  close(): Promise<void>;
}

/** The sandbox does nothing on its own: no background sessions, no repeated or reordered webhooks, no delays. */
export const DETERMINISTIC: Partial<Switches> = {
  pulseMs: 0,
  duplicateRate: 0,
  reorderRate: 0,
  transcriptMs: 0,
  noteMs: 0,
  mdmMs: 0,
  rewriteMs: 0,
};

/** In the sandbox's own credentials a viewer needs none; tests of viewers set AUTH_JWT_SECRET. */
export const TEST_SECRET = 'a-secret-for-tests-that-is-long-enough';

/** The whole gateway, as `npm start` runs it, over a sandbox of its own on free ports. */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const sandbox =
    options.sandbox ?? (await openSandbox({ switches: { ...DETERMINISTIC, ...options.switches } }));
  const storeDir = options.storeDir ?? mkdtempSync(join(tmpdir(), 'partner-graph-'));
  const { baseUrl, clientId, clientSecret, apiKey } = sandbox.connection;
  const read = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    PARTNER_BASE_URL: baseUrl,
    PARTNER_CLIENT_ID: clientId,
    PARTNER_CLIENT_SECRET: clientSecret,
    PARTNER_API_KEY: apiKey,
    AUTH_JWT_SECRET: TEST_SECRET,
    EVENT_STORE_DIR: storeDir,
    GRAPHIQL: 'on',
    ...options.env,
  });
  const config = { ...read, limits: { ...read.limits, ...options.limits } };
  const destination = { write: (line: string) => options.onLog?.(line) };
  const log = createLog(options.onLog ? 'debug' : 'silent', destination);
  const server = await openServer(config, log, options.clock);
  if (!options.sandbox) sandbox.deliverTo(`${server.url}/webhooks`);

  const close = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    if (!options.sandbox) await sandbox.close();
    if (!options.storeDir) rmSync(storeDir, { recursive: true, force: true });
  };
  return {
    url: server.url,
    sandbox,
    storeDir,
    query: async (document, variables, headers) => {
      const authorization = `Bearer ${await partnerToken()}`;
      return post(server.url, { query: document, variables }, { authorization, ...headers });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphQLAnswer> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const json: Json = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, ...json };
}

let partner: Promise<string> | undefined;
const partnerToken = (): Promise<string> => (partner ??= tokenFor(['partner']));

/** A viewer's token, as a frontend's own backend would issue it. */
export async function tokenFor(
  grants: readonly string[],
  claims: {
    readonly subject?: string;
    readonly expiresInSeconds?: number;
    readonly audience?: string;
  } = {},
): Promise<string> {
  const { SignJWT } = await import('jose');
  const aud = claims.audience === undefined ? {} : { aud: claims.audience };
  return new SignJWT({ grants: [...grants], ...aud })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(claims.subject ?? 'tester')
    .setExpirationTime(Math.floor(Date.now() / 1000) + (claims.expiresInSeconds ?? 3_600))
    .sign(new TextEncoder().encode(TEST_SECRET));
}
