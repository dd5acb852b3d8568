import { once } from 'node:events';
import { createServer } from 'node:http';
import { createActivity } from './control/activity.ts';
import { createHttpControls } from './control/http-controls.ts';
import { createSchedule } from './control/schedule.ts';
import { changeSwitches, DEFAULT_SWITCHES, type Switches } from './control/switches.ts';
import { SESSIONS_PER_CLIENT_LIMIT } from './data/hierarchy.ts';
import { createPartnerData, type PartnerData } from './data/partner-data.ts';
import { createRandom, hash } from './data/random.ts';
import type { Position } from './data/roster.ts';
import { createGeneration, type SessionPlan } from './generation.ts';
import { createHandler, VERSION_SEGMENT } from './http/handler.ts';
import { createRequestLog } from './http/request-log.ts';
import { createRouter } from './http/router.ts';
import { createScriptedAnswers } from './http/scripted-answers.ts';
import { createTokens } from './http/tokens.ts';
import { artifactRoutes } from './routes/artifacts.ts';
import { listRoutes } from './routes/lists.ts';
import { partnerRoutes } from './routes/partner.ts';
import { createWebhooks, SIGNATURE, type Signature } from './webhooks/delivery.ts';
import { createEventFactory, type WebhookEvent } from './webhooks/events.ts';

export type { SeenRequest } from './http/request-log.ts';
export type { ScriptedAnswer } from './http/scripted-answers.ts';
export type { Switches } from './control/switches.ts';
export type { WebhookEvent } from './webhooks/events.ts';

export interface SandboxOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** The same seed gives the same data, ids included. */
  readonly seed?: number;
  readonly switches?: Partial<Switches>;
  readonly signature?: Partial<Signature>;
  /** The delay before the first retry of a webhook; doubled each time, up to a minute. */
  readonly firstRetryMs?: number;
  /** How many requests `requests` holds. */
  readonly loggedRequests?: number;
}

export type Sandbox = Awaited<ReturnType<typeof openSandbox>>;
export type Connection = Sandbox['connection'];
export type SessionIds = ReturnType<Sandbox['startSession']>;

/** Obviously not real. The same at every start, so that data stored by a demo stays valid. */
const CREDENTIALS = {
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-client-secret-for-made-up-data-only',
  apiKey: 'sandbox-api-key',
} as const;

/** Loopback only: the sandbox has no real authentication. */
const HOST = '127.0.0.1';
const MAX_STORED_EVENTS = 1_000;

/** An imitation of the Partner API on a loopback port, with controls for tests. */
export async function openSandbox(options: SandboxOptions = {}) {
  const seed = options.seed ?? 1;
  const randomFor = (salt: number) => createRandom(hash(seed, salt));
  const switches: Switches = { ...DEFAULT_SWITCHES };
  changeSwitches(switches, options.switches ?? {});
  const data = createPartnerData(seed);
  const tokens = createTokens(() => switches.tokenSeconds);
  const scriptedAnswers = createScriptedAnswers();
  const schedule = createSchedule();
  const log = createRequestLog(options.loggedRequests ?? 2_000);
  const { clientSecret: secret } = CREDENTIALS;
  const signature = { ...SIGNATURE, ...options.signature };
  const delivery = { secret, signature, firstRetryMs: options.firstRetryMs ?? 250 };
  const webhooks = createWebhooks(delivery, switches, randomFor(0x3eb));
  const emitted: WebhookEvent[] = [];
  function emit(event: WebhookEvent) {
    emitted.push(event);
    if (emitted.length > MAX_STORED_EVENTS) emitted.shift();
    webhooks.send(event);
  }

  const events = createEventFactory(data, () => baseUrl);
  const generation = createGeneration(data, switches, schedule, events, emit);
  const controls = createHttpControls((): Sandbox => sandbox);
  const api = createHandler({
    apiKey: CREDENTIALS.apiKey,
    findRoute: createRouter({
      ...partnerRoutes(data, CREDENTIALS, tokens),
      ...listRoutes(data),
      ...artifactRoutes(data, generation, switches),
    }),
    tokens,
    switches,
    scriptedAnswers,
    log,
    random: randomFor(0xfa11),
  });
  const server = createServer((request, response) => {
    if (!controls(request, response)) api(request, response);
  });
  // Longer than a client's pool keeps a connection: otherwise a client may reuse a socket while the server closes it.
  server.keepAliveTimeout = 120_000;
  server.listen(options.port ?? 0, HOST);
  await once(server, 'listening');
  const { port } = Object(server.address());
  const baseUrl = `http://${HOST}:${port}${VERSION_SEGMENT}`;
  const activity = createActivity(data.roster, generation, switches, randomFor(0x9156));
  const { ids, find, roster, notes } = data;

  const sandbox = {
    connection: { baseUrl, ...CREDENTIALS },
    ids: seededIds(data),
    switches: switches as Readonly<Switches>,
    set(change: Partial<Switches>) {
      changeSwitches(switches, change);
      activity.reschedule();
    },
    /** The response to the next requests for a route (`GET /clinics/:clinicId/clients`, method optional, `*` for all). */
    answerNext: scriptedAnswers.add,
    clearAnswers: scriptedAnswers.clear,
    expireTokens: tokens.expireAll,
    revokeTokens: tokens.revokeAll,
    startSession: (clientId: string, plan?: SessionPlan) =>
      events.idsOf(generation.startSession(find.client(clientId), plan)),
    /** The note's current id; undefined during its first generation. */
    noteIdOf(sessionId: string): string | undefined {
      const note = notes.ofSession(find.session(sessionId));
      return note && notes.idOf(note);
    },
    finalize: (noteId: string) => generation.finalize(find.note(noteId)),
    /** Returns the ids of the new scores. Sends one event for all of them. */
    completeAssessments: (clientId: string, count = 1) =>
      generation.completeAssessments(find.client(clientId), count),
    /** Adds a new client to the clinician's and the clinic's list. */
    addClient: (clinicianId: string, position: Position) =>
      ids.idOf('client', roster.add(find.clinician(clinicianId), position)),
    removeClient: (clientId: string) => roster.remove(find.client(clientId)),
    /** Moves the client to the end of another clinician's list, maybe in another clinic. Past sessions do not change. */
    moveClient: (clientId: string, clinicianId: string) =>
      roster.move(find.client(clientId), find.clinician(clinicianId)),

    /** Completes all running generation now. */
    settle: schedule.settle,
    /** Completes the next step of generation now: a transcript, half a note, a note or an edit. */
    step: (): void => void schedule.step(),

    /** Sets the URL that webhooks are sent to. Without one the latest 1,000 stay pending. */
    deliverTo: webhooks.deliverTo,
    emit,
    /** Emits at least `count` events now, each of a session that has just received its note. */
    burst: activity.burst,
    /** The latest 1,000 emitted events, oldest first. */
    events: emitted as readonly WebhookEvent[],
    /** Resolves once every webhook was answered 2xx. */
    delivered: webhooks.idle,

    /** The latest requests to the API, oldest first. */
    requests: log.requests,
    countOf: log.countOf,
    /** The highest number of requests that were open at the same time. */
    mostAtOnce: log.mostAtOnce,
    resetCounts: log.reset,
    /** Closes connections and drops pending work at once. */
    async close(): Promise<void> {
      activity.close();
      schedule.close();
      webhooks.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return sandbox;
}

/** The ids of the seeded data by position, counted from 0, so that tests don't have to read the lists. */
function seededIds({ ids, scores }: PartnerData) {
  return {
    organization: (nth: number) => ids.idOf('organization', nth),
    clinic: (nth: number) => ids.idOf('clinic', nth),
    program: (nth: number) => ids.idOf('program', nth),
    /** 0 to 13 belong to the first clinic; 13 has no clients. */
    clinician: (nth: number) => ids.idOf('clinician', nth),
    /** 0 to 419 belong to the first clinic; 0 to 24 have ten sessions or more, 25 to 29 have 0, 9, 10, 11, 25. */
    client: (nth: number) => ids.idOf('client', nth),
    /** The nth session of a client, newest first. The notes of 0, 1 and 2 are not finalized; older notes are. */
    session: (client: number, nth: number) =>
      ids.idOf('session', client * SESSIONS_PER_CLIENT_LIMIT + nth),
    note: (client: number, nth: number) =>
      ids.idOf('note', client * SESSIONS_PER_CLIENT_LIMIT + nth),
    scores: scores.seededOf,
  };
}
