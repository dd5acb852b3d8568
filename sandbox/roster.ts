import {
  CLIENTS,
  CLINIC_COUNT,
  CLINICIANS,
  clinicOfClinician,
  seededClientsOfClinic,
  seededClinicianOfClient,
} from './layout.ts';
import { nth } from './rng.ts';

export type Place = 'head' | 'middle' | 'tail';

/** Which client is with which clinician: the one thing of the seed that moves. Keys only, some kilobytes. */
export interface Roster {
  readonly clientsOfClinic: (clinic: number) => readonly number[];
  readonly clientsOfClinician: (clinician: number) => readonly number[];
  /** Undefined for whoever was never there or was removed. */
  readonly clinicianOf: (client: number) => number | undefined;
  readonly add: (clinician: number, place: Place) => number;
  readonly remove: (client: number) => void;
  readonly move: (client: number, clinician: number) => void;
}

export function createRoster(): Roster {
  const clinicianOf = new Map<number, number>();
  const ofClinic = Array.from({ length: CLINIC_COUNT }, (_, clinic) =>
    seededClientsOfClinic(clinic),
  );
  const ofClinician = Array.from({ length: CLINICIANS }, (): number[] => []);
  for (let client = 0; client < CLIENTS; client++) {
    const clinician = seededClinicianOfClient(client);
    clinicianOf.set(client, clinician);
    nth(ofClinician, clinician).push(client);
  }
  let nextClient = CLIENTS;

  function enter(client: number, clinician: number, place: Place) {
    clinicianOf.set(client, clinician);
    for (const list of [nth(ofClinic, clinicOfClinician(clinician)), nth(ofClinician, clinician)]) {
      list.splice(positionIn(list, place), 0, client);
    }
  }
  function leave(client: number) {
    const clinician = clinicianOf.get(client);
    if (clinician === undefined)
      throw new Error('wanted a client on the roster, but there is none');
    clinicianOf.delete(client);
    for (const list of [nth(ofClinic, clinicOfClinician(clinician)), nth(ofClinician, clinician)]) {
      list.splice(list.indexOf(client), 1);
    }
  }

  return {
    clientsOfClinic: (clinic) => nth(ofClinic, clinic),
    clientsOfClinician: (clinician) => nth(ofClinician, clinician),
    clinicianOf: (client) => clinicianOf.get(client),
    add(clinician, place) {
      const client = nextClient++;
      enter(client, clinician, place);
      return client;
    },
    remove: leave,
    move(client, clinician) {
      leave(client);
      enter(client, clinician, 'tail');
    },
  };
}

function positionIn(list: readonly number[], place: Place): number {
  if (place === 'head') return 0;
  return place === 'tail' ? list.length : Math.floor(list.length / 2);
}
