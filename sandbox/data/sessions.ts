import {
  CLIENTS,
  CLIENTS_WITH_FULL_PAGE,
  isPrescriber,
  seededClinicianOfClient,
  seededSessionsOfClient,
  SESSIONS_PER_CLIENT_LIMIT,
} from './hierarchy.ts';
import type { Ids } from './ids.ts';
import { createRandom, hash } from './random.ts';
import type { Roster } from './roster.ts';

export interface Session {
  readonly key: number;
  readonly client: number;
  /** The clinician who held the session, even if the client has moved to another since. */
  readonly clinician: number;
  /** Only prescribers' note types get medical decision making. */
  readonly isPrescriber: boolean;
  readonly noteType: string;
  readonly startedAt: string;
  readonly durationMinutes: number;
  readonly externalId: string | undefined;
  readonly fileUrl: string | undefined;
  /** `never`: the note was written without a recording. */
  transcript: 'ready' | 'pending' | 'failed' | 'never';
  hasMdm: boolean;
}

export type Sessions = ReturnType<typeof createSessions>;

/** The seeded sessions end here, whenever the sandbox runs: the same seed gives the same dates. */
const SEEDED_UNTIL = Date.parse('2025-09-01T15:00:00Z');
const DAY_MS = 86_400_000;

/** Seeded sessions are computed from their key; sessions started while the sandbox runs are stored. */
export function createSessions(seed: number, ids: Ids, roster: Roster, nextKey: () => number) {
  const started = new Map<number, Session>();
  const startedOfClient = new Map<number, number[]>();

  const seededCount = (client: number) =>
    client < CLIENTS ? seededSessionsOfClient(seed, client) : 0;

  function create(
    key: number,
    at: number,
    whose: Pick<Session, 'client' | 'clinician' | 'isPrescriber' | 'transcript'>,
  ): Session {
    const random = createRandom(hash(seed, key, 0x5e55));
    const id = ids.idOf('session', key);
    return {
      key,
      ...whose,
      noteType: whose.isPrescriber
        ? random.pick(['medication_management', 'psychiatric_follow_up'])
        : random.pick(['soap', 'dap', 'birp']),
      startedAt: new Date(at).toISOString(),
      durationMinutes: random.pick([25, 45, 50, 53]),
      externalId: random.chance(0.7) ? `visit-${id.slice(0, 8)}` : undefined,
      fileUrl: random.chance(0.25) ? `https://recordings.example/${id}.m4a` : undefined,
      hasMdm: whose.isPrescriber && whose.transcript === 'ready',
    };
  }

  function seeded(key: number): Session | undefined {
    const client = Math.floor(key / SESSIONS_PER_CLIENT_LIMIT);
    const index = key % SESSIONS_PER_CLIENT_LIMIT;
    if (index >= seededCount(client)) return undefined;
    const clinician = seededClinicianOfClient(client);
    return create(
      key,
      SEEDED_UNTIL - (index * 7 + (client % 5)) * DAY_MS - (client % 7) * 3_600_000,
      {
        client,
        clinician,
        isPrescriber: isPrescriber(clinician),
        transcript: seededTranscript(client, key),
      },
    );
  }

  /** The clients that a demo shows first have every transcript; of the others a few are missing. */
  function seededTranscript(client: number, key: number): Session['transcript'] {
    if (client < CLIENTS_WITH_FULL_PAGE) return 'ready';
    return (['failed', 'never'] as const)[hash(seed, key, 0x0dd) % 25] ?? 'ready';
  }

  function get(key: number): Session | undefined {
    const session = started.get(key) ?? seeded(key);
    return session && roster.clinicianOf(session.client) !== undefined ? session : undefined;
  }

  return {
    get,
    find(id: string): Session | undefined {
      const key = ids.keyOf('session', id);
      return key === undefined ? undefined : get(key);
    },
    /** Keys, newest first. */
    ofClient(client: number): readonly number[] {
      const first = client * SESSIONS_PER_CLIENT_LIMIT;
      const past = Array.from({ length: seededCount(client) }, (_, index) => first + index);
      return [...(startedOfClient.get(client) ?? []), ...past];
    },
    start(client: number, prescriber?: boolean): Session {
      const clinician = roster.requireClinician(client);
      const session = create(nextKey(), Date.now(), {
        client,
        clinician,
        isPrescriber: prescriber ?? isPrescriber(clinician),
        transcript: 'pending',
      });
      started.set(session.key, session);
      startedOfClient.set(client, [session.key, ...(startedOfClient.get(client) ?? [])]);
      return session;
    },
    delete({ key, client }: Session) {
      started.delete(key);
      const others = (startedOfClient.get(client) ?? []).filter((other) => other !== key);
      startedOfClient.set(client, others);
    },
    record(key: number) {
      const session = get(key);
      return (
        session && {
          sessionId: ids.idOf('session', session.key),
          sessionExternalId: session.externalId,
          fileUrl: session.fileUrl,
          clientId: ids.idOf('client', session.client),
          clinicianId: ids.idOf('clinician', session.clinician),
          noteType: session.noteType,
          startedAt: session.startedAt,
          durationMinutes: session.durationMinutes,
        }
      );
    },
  };
}
