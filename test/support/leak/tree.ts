import { clinicOfClinician, organizationOfClinic } from '../../../sandbox/data/hierarchy.ts';
import {
  CLIENTS as ALL_CLIENTS,
  seededClinicianOfClient,
} from '../../../sandbox/data/hierarchy.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';

/** By number, as the sandbox counts. A session grant names the client's latest session. */
export type Grant = readonly [
  kind: 'organization' | 'clinic' | 'clinician' | 'client' | 'session',
  n: number,
];

export interface Shown {
  readonly client: number;
  /** Of the client's seeded sessions, if it is one. */
  readonly nth?: number;
}

export type Tree = ReturnType<typeof createTree>;

/** The reference, independent of the gateway: the parents of each client. */
export function createTree({ ids, moveClient }: Sandbox, sessionsEach: number) {
  const homes = new Map<number, number>();
  const numbers = new Map<string, Shown>();
  for (let client = 0; client < ALL_CLIENTS; client += 1) {
    homes.set(client, seededClinicianOfClient(client));
    numbers.set(ids.client(client), { client });
    for (let nth = 0; nth < sessionsEach; nth += 1) {
      numbers.set(ids.session(client, nth), { client, nth });
      numbers.set(ids.note(client, nth), { client, nth });
    }
  }

  return {
    textOf: ([kind, n]: Grant): string =>
      kind === 'session' ? `session:${ids.session(n, 0)}` : `${kind}:${ids[kind](n)}`,
    /** The record of an id; undefined if it is not in the seed. */
    numberOf: (id: string): Shown | undefined => numbers.get(id),
    maySee(grants: readonly Grant[], { client, nth }: Shown): boolean {
      const clinician = homes.get(client) ?? -1;
      const clinic = clinicOfClinician(clinician);
      return grants.some(
        ([kind, n]) =>
          (kind === 'client' && n === client) ||
          (kind === 'session' && n === client && nth === 0) ||
          (kind === 'clinician' && n === clinician) ||
          (kind === 'clinic' && n === clinic) ||
          (kind === 'organization' && n === organizationOfClinic(clinic)),
      );
    },
    /** False if the client is already there. */
    move(client: number, clinician: number): boolean {
      if (homes.get(client) === clinician) return false;
      moveClient(ids.client(client), ids.clinician(clinician));
      homes.set(client, clinician);
      return true;
    },
  };
}
