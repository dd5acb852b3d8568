import { organizationOfClinic } from './hierarchy.ts';
import type { Ids } from './ids.ts';
import { createRandom, hash, itemAt } from './random.ts';

export const CLIENT_STATUSES =
  'awaiting_invite active archived declined invite_sent pending unknown'.split(' ');

export type Records = ReturnType<typeof createRecords>;
export type ClientRecord = ReturnType<Records['client']>;
export type ClinicianRecord = ReturnType<Records['clinician']>;

/** The records that never change, each computed from the seed and its key. */
export function createRecords(seed: number, ids: Ids) {
  return {
    partner: () => ({
      id: ids.idOf('partner', 0),
      name: 'Fernhollow Health Partners',
      environment: 'sandbox',
    }),
    organization: (key: number) => ({
      id: ids.idOf('organization', key),
      name: itemAt(ORGANIZATION_NAMES, key),
    }),
    clinic: (key: number) => ({
      id: ids.idOf('clinic', key),
      name: itemAt(CLINIC_NAMES, key),
      organizationId: ids.idOf('organization', organizationOfClinic(key)),
      timeZone: `America/${itemAt(TIME_ZONES, key)}`,
    }),
    program: (key: number) => ({
      id: ids.idOf('program', key),
      name: itemAt(PROGRAM_NAMES, key),
      isActive: key % 9 !== 8,
    }),
    clinician(key: number) {
      const random = createRandom(hash(seed, key, 0xc11c));
      const firstName = random.pick(FIRST_NAMES);
      const lastName = itemAt(LAST_NAMES, key * 7 + 3);
      return {
        id: ids.idOf('clinician', key),
        firstName,
        lastName,
        email: `${firstName}.${lastName}@clinic.example`.toLowerCase(),
        externalId: `staff-${padded(key + 1, 4)}`,
      };
    },
    client(key: number) {
      const random = createRandom(hash(seed, key, 0xc11e));
      const firstName = random.pick(FIRST_NAMES);
      const lastName = random.pick(LAST_NAMES);
      return {
        id: ids.idOf('client', key),
        firstName,
        lastName,
        externalId: `chart-${padded(key + 10_001, 6)}`,
        email: `${firstName}.${lastName}.${key + 1}@mail.example`.toLowerCase(),
        // 555-01xx is reserved for fiction.
        phoneNumber: `+1${201 + (Math.floor(key / 100) % 700)}55501${padded(key % 100, 2)}`,
        dateOfBirth: `${1948 + random.below(62)}-${padded(1 + random.below(12), 2)}-${padded(1 + random.below(28), 2)}`,
        status: random.chance(0.75) ? 'active' : random.pick(CLIENT_STATUSES),
      };
    },
  };
}

const padded = (value: number, width: number) => String(value).padStart(width, '0');

/** First names are common. Last names are invented, so that no full name belongs to a real person. */
const FIRST_NAMES = (
  'Amara Bennet Celia Dorian Elise Farid Greta Hollis Imani Jonas Keiko Lorenz Mireille ' +
  'Nadia Orson Priya Quentin Rosalind Soren Talia Ulla Viktor Wren Ximena Yusuf Zora Anselm ' +
  'Beatriz Caspian Delphine Emeka Freya Gideon Hana Ignacio Juniper Kofi Linnea Matteo Noor'
).split(' ');
const LAST_NAME_STARTS = (
  'Alder Bram Cinder Dun Ember Fallow Gorse Hazel Ivory Juniper Kestrel Larch Marrow Nettle ' +
  'Ockham Pebble Quill Rowan Sorrel Thistle Umber Vetch Willow Yarrow Zephyr'
).split(' ');
const LAST_NAME_ENDS = 'bourne combe dale fen garth holt ley mere quist rigg shaw vane'.split(' ');
const LAST_NAMES = LAST_NAME_STARTS.flatMap((start) => LAST_NAME_ENDS.map((end) => start + end));

const ORGANIZATION_NAMES = ['Fernhollow Behavioral Health', 'Tidewater Counseling Group'];
const CLINIC_NAMES = (
  'Fernhollow Downtown, Fernhollow Riverside, Fernhollow Family Center, ' +
  'Tidewater Harbor Clinic, Tidewater Telehealth'
).split(', ');
const TIME_ZONES = ['New_York', 'New_York', 'Chicago', 'Los_Angeles', 'Los_Angeles'];
const PROGRAM_NAMES = (
  'Intensive Outpatient, Anxiety Skills Group, Mood and Sleep, Perinatal Support, Grief ' +
  'Circle, Adult ADHD Coaching, Recovery Foundations, Trauma Stabilization, Teen ' +
  'Resilience, Couples Track, Pain and Pacing, Medication Management, Mindful Mornings, ' +
  'Caregiver Support, Young Adult Transitions, Panic Recovery, Healthy Boundaries, Return ' +
  'to Work, Parenting Together'
).split(', ');
