import type { Ids } from './ids.ts';
import { organizationOfClinic } from './layout.ts';
import {
  CLINIC_NAMES,
  FIRST_NAMES,
  LAST_NAMES,
  ORGANIZATION_NAMES,
  PARTNER_NAME,
  PROGRAM_NAMES,
  TIME_ZONES,
} from './names.ts';
import { createDraws, hash, nth } from './rng.ts';

export const CLIENT_STATUSES = [
  'awaiting_invite',
  'active',
  'archived',
  'declined',
  'invite_sent',
  'pending',
  'unknown',
] as const;

export interface ClientRecord {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly externalId: string;
  readonly email: string;
  readonly phoneNumber: string;
  readonly dateOfBirth: string;
  readonly status: (typeof CLIENT_STATUSES)[number];
}

export interface ClinicianRecord {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly externalId: string;
}

/** The records that never change, each computed from the seed and its key. */
export function createRecords(seed: number, ids: Ids) {
  return {
    partner: () => ({
      id: ids.idOf('partner', 0),
      name: PARTNER_NAME,
      environment: 'sandbox',
    }),
    organization: (key: number) => ({
      id: ids.idOf('organization', key),
      name: nth(ORGANIZATION_NAMES, key),
    }),
    clinic: (key: number) => ({
      id: ids.idOf('clinic', key),
      name: nth(CLINIC_NAMES, key),
      organizationId: ids.idOf('organization', organizationOfClinic(key)),
      timeZone: nth(TIME_ZONES, key),
    }),
    program: (key: number) => ({
      id: ids.idOf('program', key),
      name: nth(PROGRAM_NAMES, key),
      isActive: key % 9 !== 8,
    }),
    clinician(key: number): ClinicianRecord {
      const draws = createDraws(hash(seed, key, 0xc11c));
      const firstName = draws.pick(FIRST_NAMES);
      const lastName = nth(LAST_NAMES, key * 7 + 3);
      return {
        id: ids.idOf('clinician', key),
        firstName,
        lastName,
        email: `${firstName}.${lastName}@clinic.example`.toLowerCase(),
        externalId: `staff-${padded(key + 1, 4)}`,
      };
    },
    client(key: number): ClientRecord {
      const draws = createDraws(hash(seed, key, 0xc11e));
      const firstName = draws.pick(FIRST_NAMES);
      const lastName = draws.pick(LAST_NAMES);
      return {
        id: ids.idOf('client', key),
        firstName,
        lastName,
        externalId: `chart-${padded(key + 10_001, 6)}`,
        email: `${firstName}.${lastName}.${key + 1}@mail.example`.toLowerCase(),
        // 555-01xx is set aside for fiction.
        phoneNumber: `+1${201 + (Math.floor(key / 100) % 700)}55501${padded(key % 100, 2)}`,
        dateOfBirth: `${1948 + draws.below(62)}-${padded(1 + draws.below(12), 2)}-${padded(1 + draws.below(28), 2)}`,
        status: draws.chance(0.75) ? 'active' : draws.pick(CLIENT_STATUSES),
      };
    },
  };
}

export type Records = ReturnType<typeof createRecords>;

const padded = (value: number, width: number) => String(value).padStart(width, '0');
