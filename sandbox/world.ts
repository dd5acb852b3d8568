import { randomInt } from 'node:crypto';
import { createIds, type Ids } from './ids.ts';
import { clinicOfClinician, organizationOfClinic, programsOfOrganization } from './layout.ts';
import { createMagicEdits, type MagicEdits } from './magic-edits.ts';
import { createNotes, type Notes } from './notes.ts';
import { createOwned, type Owned } from './owned.ts';
import { createRecords, type ClientRecord, type Records } from './records.ts';
import { hash } from './rng.ts';
import { createRoster, type Roster } from './roster.ts';
import { createScores, type Scores } from './scores.ts';
import { createSessionBook, type SessionBook } from './session-book.ts';

/** Everything the made-up partner has. Computed from the seed when asked for; only what changed is kept. */
export interface World {
  readonly seed: number;
  readonly ids: Ids;
  readonly records: Records;
  readonly roster: Roster;
  readonly sessions: SessionBook;
  readonly notes: Notes;
  readonly scores: Scores;
  readonly edits: MagicEdits;
  readonly owned: Owned;
  /** A key for what begins while the sandbox runs. */
  readonly nextKey: () => number;
  readonly client: (key: number) => ClientRecord;
  readonly sessionRecord: (key: number) => object | undefined;
  readonly programsOf: (client: number) => readonly number[];
}

/** Above every key of the seed. */
const LIVE_KEYS = 0x8000_0000;

export function createWorld(seed: number): World {
  const ids = createIds(seed);
  const records = createRecords(seed, ids);
  const roster = createRoster();
  // A random start: a receiver that remembers last run's ids must not take new sessions for old ones.
  let live = LIVE_KEYS + randomInt(0x7000_0000);
  const nextKey = () => live++;
  const sessions = createSessionBook(seed, ids, roster, nextKey);
  const notes = createNotes(seed, ids, sessions, nextKey);
  const clients = new Map<number, ClientRecord>();
  return {
    seed,
    ids,
    records,
    roster,
    sessions,
    notes,
    scores: createScores(seed, ids, roster, nextKey),
    edits: createMagicEdits(seed, ids, nextKey),
    owned: createOwned(ids, roster, sessions, notes),
    nextKey,
    // Kept once made: a filter looks at every client of a clinic.
    client: (key) => clients.get(key) ?? remembered(clients, key, records.client(key)),
    sessionRecord(key) {
      const session = sessions.get(key);
      return session && sessions.record(session);
    },
    programsOf(client) {
      const clinician = roster.clinicianOf(client) ?? 0;
      const programs = programsOfOrganization(organizationOfClinic(clinicOfClinician(clinician)));
      const spread = hash(seed, client, 0x9806);
      return programs.slice(spread % programs.length).slice(0, (spread >>> 8) % 4);
    },
  };
}

function remembered<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value);
  return value;
}
