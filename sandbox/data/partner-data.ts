import { randomInt } from 'node:crypto';
import { notFound } from '../http/errors.ts';
import {
  CLINIC_COUNT,
  CLINICIANS,
  clinicOfClinician,
  organizationOfClinic,
  ORGANIZATIONS,
  programsOfOrganization,
} from './hierarchy.ts';
import { createIds } from './ids.ts';
import { createMagicEdits } from './magic-edits.ts';
import { createNotes, type Note } from './notes.ts';
import { hash } from './random.ts';
import { createRecords, type ClientRecord } from './records.ts';
import { createRoster } from './roster.ts';
import { createScores } from './scores.ts';
import { createSessions, type Session } from './sessions.ts';

export type PartnerData = ReturnType<typeof createPartnerData>;

/** Greater than every key of the seeded data. */
const FIRST_NEW_KEY = 0x8000_0000;

/** All data of the made-up partner. It is computed from the seed on request; only changes are stored. */
export function createPartnerData(seed: number) {
  const ids = createIds(seed);
  const records = createRecords(seed, ids);
  const roster = createRoster();
  // Random, so that new sessions don't get the ids of an earlier run, which a gateway may have stored.
  let key = FIRST_NEW_KEY + randomInt(0x7000_0000);
  const nextKey = () => key++;
  const sessions = createSessions(seed, ids, roster, nextKey);
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
    /** Cached once computed, because a filter reads every client of a clinic. */
    clientRecord(client: number): ClientRecord {
      const record = clients.get(client) ?? records.client(client);
      clients.set(client, record);
      return record;
    },
    programsOfClient(client: number): readonly number[] {
      const clinic = clinicOfClinician(roster.clinicianOf(client) ?? 0);
      const programs = programsOfOrganization(organizationOfClinic(clinic));
      const random = hash(seed, client, 0x9806);
      return programs.slice(random % programs.length).slice(0, (random >>> 8) % 4);
    },
    /** The record with the id in a path. A missing record and another partner's record are both 404. */
    find: {
      organization: (id: string) =>
        required('Organization', ids.keyOf('organization', id), ORGANIZATIONS),
      clinic: (id: string) => required('Clinic', ids.keyOf('clinic', id), CLINIC_COUNT),
      clinician: (id: string) => required('Clinician', ids.keyOf('clinician', id), CLINICIANS),
      client(id: string): number {
        const client = required('Client', ids.keyOf('client', id));
        required('Client', roster.clinicianOf(client));
        return client;
      },
      session: (id: string): Session => required('Session', sessions.get(ids.keyOf('session', id))),
      note: (id: string): Note => required('Progress note', notes.find(id)),
    },
  };
}

function required<T>(noun: string, found: T | undefined, keyLimit = Infinity): T {
  if (found === undefined || (typeof found === 'number' && found >= keyLimit)) throw notFound(noun);
  return found;
}
