import type { Ids } from './ids.ts';
import {
  CLIENTS,
  FULL_CLIENTS,
  isPrescriber,
  seededClinicianOfClient,
  seededSessionsOfClient,
  SESSIONS_PER_CLIENT_LIMIT,
} from './layout.ts';
import { createDraws, hash } from './rng.ts';
import type { Roster } from './roster.ts';

export type TranscriptState = 'ready' | 'pending' | 'failed' | 'never';

export interface Session {
  readonly key: number;
  readonly client: number;
  /** Whose session it was, wherever the client went since. */
  readonly clinician: number;
  /** Only prescribers' note types get medical decision making. */
  readonly isPrescriber: boolean;
  readonly noteType: string;
  readonly startedAt: string;
  readonly durationMinutes: number;
  readonly externalId: string | undefined;
  readonly fileUrl: string | undefined;
  transcript: TranscriptState;
  hasMdm: boolean;
}

export interface SessionBook {
  /** Newest first, as the API's list shows them. */
  readonly sessionsOf: (client: number) => readonly number[];
  readonly find: (id: string) => Session | undefined;
  readonly get: (key: number) => Session | undefined;
  readonly add: (client: number, isPrescriber: boolean) => Session;
  readonly forget: (session: Session) => void;
  readonly record: (session: Session) => object;
}

const THERAPY_NOTES = ['soap', 'dap', 'birp'] as const;
const PRESCRIBER_NOTES = ['medication_management', 'psychiatric_follow_up'] as const;

/** The made-up past ends here, whenever the sandbox runs: the same seed gives the same dates. */
const PAST_ENDS_AT = Date.parse('2025-09-01T15:00:00Z');
const DAY_MS = 86_400_000;

export function createSessionBook(
  seed: number,
  ids: Ids,
  roster: Roster,
  nextKey: () => number,
): SessionBook {
  const live = new Map<number, Session>();
  const liveOfClient = new Map<number, number[]>();

  function seededCount(client: number): number {
    return client < CLIENTS ? seededSessionsOfClient(seed, client) : 0;
  }

  function make(
    key: number,
    client: number,
    clinician: number,
    prescribes: boolean,
    at: number,
  ): Session {
    const draws = createDraws(hash(seed, key, 0x5e55));
    return {
      key,
      client,
      clinician,
      isPrescriber: prescribes,
      noteType: prescribes ? draws.pick(PRESCRIBER_NOTES) : draws.pick(THERAPY_NOTES),
      startedAt: new Date(at).toISOString(),
      durationMinutes: draws.pick([25, 45, 50, 53]),
      externalId: draws.chance(0.7) ? `visit-${ids.idOf('session', key).slice(0, 8)}` : undefined,
      fileUrl: draws.chance(0.25)
        ? `https://recordings.example/${ids.idOf('session', key)}.m4a`
        : undefined,
      transcript: 'ready',
      hasMdm: prescribes,
    };
  }

  function seeded(key: number): Session | undefined {
    const client = Math.floor(key / SESSIONS_PER_CLIENT_LIMIT);
    const number = key % SESSIONS_PER_CLIENT_LIMIT;
    if (number >= seededCount(client)) return undefined;
    const clinician = seededClinicianOfClient(client);
    const at = PAST_ENDS_AT - (number * 7 + (client % 5)) * DAY_MS - (client % 7) * 3_600_000;
    const session = make(key, client, clinician, isPrescriber(clinician), at);
    // The clients that a demonstration shows first have nothing missing.
    if (client >= FULL_CLIENTS) session.transcript = oddTranscript(hash(seed, key, 0x0dd) % 25);
    session.hasMdm = session.isPrescriber && session.transcript === 'ready';
    return session;
  }

  function get(key: number): Session | undefined {
    const session = live.get(key) ?? seeded(key);
    return session && roster.clinicianOf(session.client) !== undefined ? session : undefined;
  }

  return {
    get,
    find(id) {
      const key = ids.keyOf('session', id);
      return key === undefined ? undefined : get(key);
    },
    sessionsOf(client) {
      const first = client * SESSIONS_PER_CLIENT_LIMIT;
      const past = Array.from({ length: seededCount(client) }, (_, number) => first + number);
      return [...(liveOfClient.get(client) ?? []), ...past];
    },
    add(client, prescribes) {
      const clinician = roster.clinicianOf(client);
      if (clinician === undefined)
        throw new Error('wanted a client on the roster, but there is none');
      const session = make(nextKey(), client, clinician, prescribes, Date.now());
      session.transcript = 'pending';
      session.hasMdm = false;
      live.set(session.key, session);
      liveOfClient.set(client, [session.key, ...(liveOfClient.get(client) ?? [])]);
      return session;
    },
    forget({ key, client }) {
      live.delete(key);
      liveOfClient.set(
        client,
        (liveOfClient.get(client) ?? []).filter((other) => other !== key),
      );
    },
    record: (session) => ({
      sessionId: ids.idOf('session', session.key),
      sessionExternalId: session.externalId,
      fileUrl: session.fileUrl,
      clientId: ids.idOf('client', session.client),
      clinicianId: ids.idOf('clinician', session.clinician),
      noteType: session.noteType,
      startedAt: session.startedAt,
      durationMinutes: session.durationMinutes,
    }),
  };
}

/** Some recordings could not be transcribed, and some notes were written without one. */
function oddTranscript(spread: number): TranscriptState {
  if (spread === 0) return 'failed';
  return spread === 1 ? 'never' : 'ready';
}
