import {
  CLIENTS,
  CLINIC_COUNT,
  CLINICIANS,
  clinicOfClinician,
  seededClinicianOfClient,
} from './hierarchy.ts';
import { itemAt } from './random.ts';

export type Position = 'head' | 'middle' | 'tail';
export type Roster = ReturnType<typeof createRoster>;

/** Which client is with which clinician: the one part of the seeded data that tests can change. */
export function createRoster() {
  const clinicianOf = new Map<number, number>();
  const ofClinic = Array.from({ length: CLINIC_COUNT }, (): number[] => []);
  const ofClinician = Array.from({ length: CLINICIANS }, (): number[] => []);
  let nextClient = 0;

  const listsOf = (clinician: number) => [
    itemAt(ofClinic, clinicOfClinician(clinician)),
    itemAt(ofClinician, clinician),
  ];

  function requireClinician(client: number): number {
    const clinician = clinicianOf.get(client);
    if (clinician === undefined) throw new Error('no clinician has this client');
    return clinician;
  }

  function add(clinician: number, position: Position, client = nextClient++): number {
    clinicianOf.set(client, clinician);
    for (const list of listsOf(clinician)) {
      const index = { head: 0, middle: Math.floor(list.length / 2), tail: list.length }[position];
      list.splice(index, 0, client);
    }
    return client;
  }

  function remove(client: number) {
    for (const list of listsOf(requireClinician(client))) list.splice(list.indexOf(client), 1);
    clinicianOf.delete(client);
  }

  while (nextClient < CLIENTS) add(seededClinicianOfClient(nextClient), 'tail');

  return {
    clientsOfClinic: (clinic: number): readonly number[] => itemAt(ofClinic, clinic),
    clientsOfClinician: (clinician: number): readonly number[] => itemAt(ofClinician, clinician),
    /** Undefined for a client that never existed or was removed. */
    clinicianOf: (client: number) => clinicianOf.get(client),
    requireClinician,
    add: (clinician: number, position: Position) => add(clinician, position),
    remove,
    move(client: number, clinician: number) {
      remove(client);
      add(clinician, 'tail', client);
    },
  };
}
