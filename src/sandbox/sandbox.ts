import { credentialRoutes } from './credential-routes.ts';
import { createHandler, VERSION_SEGMENT } from './http-handler.ts';
import { listRoutes } from './list-routes.ts';
import { listen, LOOPBACK } from './listen.ts';
import { createRequestLog, type SeenRequest } from './request-log.ts';
import { createDraws } from './rng.ts';
import { createRouter } from './router.ts';
import { createScripts, type ScriptedAnswer } from './scripts.ts';
import { DEFAULT_SWITCHES, turn, type Switches } from './switches.ts';
import { createTokens } from './tokens.ts';
import { createWorld } from './world.ts';

export type { ScriptedAnswer, SeenRequest, Switches };

export interface SandboxOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** The same seed makes the same partner, ids included. */
  readonly seed?: number;
  readonly switches?: Partial<Switches>;
  /** How many requests `requests` remembers. */
  readonly rememberedRequests?: number;
}

export interface Connection {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly apiKey: string;
}

export interface Sandbox {
  readonly connection: Connection;
  readonly switches: Switches;
  readonly set: (change: Partial<Switches>) => void;
  /** The next requests for a route (`GET /clinics/:clinicId/clients`, verb optional, `*` for all) get this answer. */
  readonly answerNext: (pattern: string, answer: ScriptedAnswer) => void;
  readonly expireTokens: () => void;
  readonly revokeTokens: () => void;
  readonly requests: readonly SeenRequest[];
  readonly countOf: (pattern?: string) => number;
  readonly mostAtOnce: () => number;
  readonly resetCounts: () => void;
  readonly close: () => Promise<void>;
}

/** Obviously nobody's, and the same at every start: cursors and cached tokens of a demo survive it. */
const CREDENTIALS = {
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-client-secret-for-made-up-data-only',
  apiKey: 'sandbox-api-key',
} as const;

export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const seed = options.seed ?? 1;
  const switches: Switches = { ...DEFAULT_SWITCHES, ...options.switches };
  const world = createWorld(seed);
  const tokens = createTokens(() => switches.tokenSeconds);
  const scripts = createScripts();
  const log = createRequestLog(options.rememberedRequests ?? 2_000);
  const find = createRouter([
    ...credentialRoutes(world, CREDENTIALS, tokens),
    ...listRoutes(world),
  ]);
  const handler = createHandler({
    apiKey: CREDENTIALS.apiKey,
    find,
    tokens,
    switches,
    scripts,
    log,
    draws: createDraws(seed),
  });
  const server = await listen(handler, options.port ?? 0);
  return {
    connection: { baseUrl: `http://${LOOPBACK}:${server.port}${VERSION_SEGMENT}`, ...CREDENTIALS },
    switches,
    set: (change) => turn(switches, change),
    answerNext: scripts.add,
    expireTokens: tokens.expireAll,
    revokeTokens: tokens.revokeAll,
    requests: log.requests,
    countOf: log.countOf,
    mostAtOnce: log.mostAtOnce,
    resetCounts: log.reset,
    close: server.close,
  };
}
