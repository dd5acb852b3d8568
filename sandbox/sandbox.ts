import { createControls } from './controls.ts';
import { credentialRoutes } from './credential-routes.ts';
import { createEventMaker, type WebhookEvent } from './events.ts';
import { createHandler, VERSION_SEGMENT } from './http-handler.ts';
import { listRoutes } from './list-routes.ts';
import { listen, LOOPBACK } from './listen.ts';
import { noteRoutes } from './note-routes.ts';
import { createPulse } from './pulse.ts';
import { createRequestLog } from './request-log.ts';
import { createDraws, hash } from './rng.ts';
import { createRouter } from './router.ts';
import type { Sandbox, SandboxOptions } from './sandbox-api.ts';
import { createSandboxIds } from './sandbox-ids.ts';
import { createSchedule } from './schedule.ts';
import { createScripts } from './scripts.ts';
import { secondaryRoutes } from './secondary-routes.ts';
import { createService } from './service.ts';
import { sessionRoutes } from './session-routes.ts';
import { createStage } from './stage.ts';
import { DEFAULT_SWITCHES, turn, type Switches } from './switches.ts';
import { createTokens } from './tokens.ts';
import { createWebhooks } from './webhooks.ts';
import { createWorld } from './world.ts';

export type { Connection, Sandbox, SandboxOptions } from './sandbox-api.ts';
export type { ScriptedAnswer } from './scripts.ts';
export type { SeenRequest } from './request-log.ts';
export type { Switches } from './switches.ts';
export type { WebhookEvent } from './events.ts';
export type { SessionIds } from './stage.ts';

/** Obviously nobody's, and the same at every start, so that what a demo remembers stays valid. */
const CREDENTIALS = {
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-client-secret-for-made-up-data-only',
  apiKey: 'sandbox-api-key',
} as const;

const MOST_REMEMBERED_EVENTS = 1_000;

/** An imitation of the Partner API on a loopback port. */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const seed = options.seed ?? 1;
  const switches: Switches = { ...DEFAULT_SWITCHES };
  turn(switches, options.switches ?? {});
  const world = createWorld(seed);
  const tokens = createTokens(() => switches.tokenSeconds);
  const scripts = createScripts();
  const schedule = createSchedule();
  const log = createRequestLog(options.rememberedRequests ?? 2_000);
  const webhooks = createWebhooks(
    {
      secret: CREDENTIALS.clientSecret,
      signatureHeader: options.signatureHeader ?? 'x-signature',
      firstRetryMs: options.firstRetryMs ?? 250,
    },
    switches,
    createDraws(hash(seed, 0x3eb)),
  );
  const sent: WebhookEvent[] = [];
  function emit(event: WebhookEvent) {
    sent.push(event);
    if (sent.length > MOST_REMEMBERED_EVENTS) sent.shift();
    webhooks.send(event);
  }

  const events = createEventMaker(world.ids, world.notes, () => connection.baseUrl);
  const service = createService(world, switches, schedule, events, emit);
  const controls = createControls(() => sandbox);
  const api = createHandler({
    apiKey: CREDENTIALS.apiKey,
    find: createRouter([
      ...credentialRoutes(world, CREDENTIALS, tokens),
      ...listRoutes(world),
      ...sessionRoutes(world, switches),
      ...noteRoutes(world, service),
      ...secondaryRoutes(world),
    ]),
    tokens,
    switches,
    scripts,
    log,
    draws: createDraws(hash(seed, 0xfa11)),
  });
  const server = await listen(
    (request, response) => controls(request, response) || api(request, response),
    options.port ?? 0,
  );
  const connection = {
    baseUrl: `http://${LOOPBACK}:${server.port}${VERSION_SEGMENT}`,
    ...CREDENTIALS,
  };
  const pulse = createPulse(world.roster, service, switches, createDraws(hash(seed, 0x9153)));
  const sandbox: Sandbox = {
    connection,
    ids: createSandboxIds(world.ids, world.scores),
    switches,
    set(change) {
      turn(switches, change);
      pulse.retime();
    },
    answerNext: scripts.add,
    clearAnswers: scripts.clear,
    expireTokens: tokens.expireAll,
    revokeTokens: tokens.revokeAll,
    ...createStage(world, service),
    settle: schedule.settle,
    step: schedule.step,
    deliverTo: webhooks.deliverTo,
    emit,
    burst: pulse.burst,
    events: sent,
    delivered: webhooks.idle,
    requests: log.requests,
    countOf: log.countOf,
    mostAtOnce: log.mostAtOnce,
    resetCounts: log.reset,
    async close() {
      pulse.close();
      schedule.close();
      webhooks.close();
      await server.close();
    },
  };
  return sandbox;
}
