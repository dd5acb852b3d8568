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

export type Sessions = ReturnType<typeof createSessions>;
export type Session = ReturnType<typeof create>;

/** `never`: the note was written without a recording. */
type Transcript = 'ready' | 'pending' | 'failed' | 'never';

/** The date of the latest seeded session. It does not depend on the current date: the same seed gives the same dates. */
const SEEDED_UNTIL = Date.parse('2025-09-01T15:00:00Z');
const DAY_MS = 86_400_000;

/** Seeded sessions are computed from their key; sessions started while the sandbox runs are stored. */
export function createSessions(seed: number, ids: Ids, roster: Roster, nextKey: () => number) {
  const started = new Map<number, Session>();
  const startedOfClient = new Map<number, number[]>();

  const seededCount = (client: number) =>
    client < CLIENTS ? seededSessionsOfClient(seed, client) : 0;

  function seeded(key: number) {
    const client = Math.floor(key / SESSIONS_PER_CLIENT_LIMIT);
    const index = key % SESSIONS_PER_CLIENT_LIMIT;
    if (index >= seededCount(client)) return undefined;
    const at = SEEDED_UNTIL - (index * 7 + (client % 5)) * DAY_MS - (client % 7) * 3_600_000;
    const clinician = seededClinicianOfClient(client);
    const session = create(seed, ids, key, client, clinician, at, isPrescriber(clinician));
    // The clients that a demo shows first have all transcripts; some transcripts of the others are missing.
    const missing = (['failed', 'never'] as const)[hash(seed, key, 0x0dd) % 25];
    session.transcript = (client >= CLIENTS_WITH_FULL_PAGE && missing) || 'ready';
    session.hasMdm = session.isPrescriber && session.transcript === 'ready';
    return session;
  }

  return {
    get(key: number | undefined): Session | undefined {
      if (key === undefined) return undefined;
      const session = started.get(key) ?? seeded(key);
      return session && roster.clinicianOf(session.client) !== undefined ? session : undefined;
    },
    /** Keys, newest first. */
    ofClient(client: number): readonly number[] {
      const first = client * SESSIONS_PER_CLIENT_LIMIT;
      const past = Array.from({ length: seededCount(client) }, (_, index) => first + index);
      return [...(startedOfClient.get(client) ?? []), ...past];
    },
    start(client: number, prescribes?: boolean): Session {
      const clinician = roster.requireClinician(client);
      const isPrescribing = prescribes ?? isPrescriber(clinician);
      const session = create(seed, ids, nextKey(), client, clinician, Date.now(), isPrescribing);
      started.set(session.key, session);
      startedOfClient.set(client, [session.key, ...(startedOfClient.get(client) ?? [])]);
      return session;
    },
    delete({ key, client }: Session) {
      started.delete(key);
      const others = (startedOfClient.get(client) ?? []).filter((other) => other !== key);
      startedOfClient.set(client, others);
    },
  };
}

/** `clinician` held the session, even if the client has moved to another since. */
function create(
  seed: number,
  ids: Ids,
  key: number,
  client: number,
  clinician: number,
  at: number,
  prescribes: boolean,
) {
  const random = createRandom(hash(seed, key, 0x5e55));
  const sessionId = ids.idOf('session', key);
  const noteType = random.pick(
    prescribes ? ['medication_management', 'psychiatric_follow_up'] : ['soap', 'dap', 'birp'],
  );
  const durationMinutes = random.pick([25, 45, 50, 53]);
  return {
    key,
    client,
    clinician,
    /** Only prescribers' note types get medical decision making. */
    isPrescriber: prescribes,
    transcript: 'pending' as Transcript,
    hasMdm: false,
    record: {
      sessionId,
      sessionExternalId: random.chance(0.7) ? `visit-${sessionId.slice(0, 8)}` : undefined,
      fileUrl: random.chance(0.25) ? `https://recordings.example/${sessionId}.m4a` : undefined,
      clientId: ids.idOf('client', client),
      clinicianId: ids.idOf('clinician', clinician),
      noteType,
      startedAt: new Date(at).toISOString(),
      durationMinutes,
    },
  };
}
