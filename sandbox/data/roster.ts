import {
  CLIENTS,
  CLINIC_COUNT,
  CLINICIANS,
  clinicOfClinician,
  seededClientsOfClinic,
  seededClinicianOfClient,
} from './hierarchy.ts';
import { itemAt } from './random.ts';

export type Position = 'head' | 'middle' | 'tail';
export type Roster = ReturnType<typeof createRoster>;

/** Which client is with which clinician: the one part of the seeded data that tests can change. */
export function createRoster() {
  const clinicianOf = new Map<number, number>();
  const ofClinic = Array.from({ length: CLINIC_COUNT }, (_, clinic) =>
    seededClientsOfClinic(clinic),
  );
  const ofClinician = Array.from({ length: CLINICIANS }, (): number[] => []);
  for (let client = 0; client < CLIENTS; client++) {
    const clinician = seededClinicianOfClient(client);
    clinicianOf.set(client, clinician);
    itemAt(ofClinician, clinician).push(client);
  }
  let nextClient = CLIENTS;

  const listsOf = (clinician: number) => [
    itemAt(ofClinic, clinicOfClinician(clinician)),
    itemAt(ofClinician, clinician),
  ];

  function requireClinician(client: number): number {
    const clinician = clinicianOf.get(client);
    if (clinician === undefined) throw new Error('no clinician has this client');
    return clinician;
  }

  function insert(client: number, clinician: number, position: Position) {
    clinicianOf.set(client, clinician);
    for (const list of listsOf(clinician)) {
      const index = { head: 0, middle: Math.floor(list.length / 2), tail: list.length }[position];
      list.splice(index, 0, client);
    }
  }

  function remove(client: number) {
    for (const list of listsOf(requireClinician(client))) list.splice(list.indexOf(client), 1);
    clinicianOf.delete(client);
  }

  return {
    clientsOfClinic: (clinic: number): readonly number[] => itemAt(ofClinic, clinic),
    clientsOfClinician: (clinician: number): readonly number[] => itemAt(ofClinician, clinician),
    /** Undefined for a client that never existed or was removed. */
    clinicianOf: (client: number) => clinicianOf.get(client),
    requireClinician,
    add(clinician: number, position: Position): number {
      const client = nextClient++;
      insert(client, clinician, position);
      return client;
    },
    remove,
    move(client: number, clinician: number) {
      remove(client);
      insert(client, clinician, 'tail');
    },
  };
}
