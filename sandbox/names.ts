/** Given names are common ones; family names are coined, so that no pair is anybody's. */
export const FIRST_NAMES = (
  'Amara Bennet Celia Dorian Elise Farid Greta Hollis Imani Jonas Keiko Lorenz Mireille ' +
  'Nadia Orson Priya Quentin Rosalind Soren Talia Ulla Viktor Wren Ximena Yusuf Zora Anselm ' +
  'Beatriz Caspian Delphine Emeka Freya Gideon Hana Ignacio Juniper Kofi Linnea Matteo Noor'
).split(' ');

const HEADS = (
  'Alder Bram Cinder Dun Ember Fallow Gorse Hazel Ivory Juniper Kestrel Larch Marrow Nettle ' +
  'Ockham Pebble Quill Rowan Sorrel Thistle Umber Vetch Willow Yarrow Zephyr'
).split(' ');

const TAILS =
  'bourne combe dale fen garth holt ley mere quist rigg shaw thwaite vane wick worthy stead'.split(
    ' ',
  );

export const LAST_NAMES: readonly string[] = HEADS.flatMap((head) =>
  TAILS.map((tail) => head + tail),
);

export const PARTNER_NAME = 'Fernhollow Health Partners';

export const ORGANIZATION_NAMES = [
  'Fernhollow Behavioral Health',
  'Tidewater Counseling Group',
] as const;

export const CLINIC_NAMES = (
  'Fernhollow Downtown, Fernhollow Riverside, Fernhollow Family Center, Tidewater Harbor ' +
  'Clinic, Tidewater Telehealth'
).split(', ');

export const TIME_ZONES = (
  'America/New_York, America/New_York, America/Chicago, America/Los_Angeles, ' +
  'America/Los_Angeles'
).split(', ');

export const PROGRAM_NAMES = (
  'Intensive Outpatient, Anxiety Skills Group, Mood and Sleep, Perinatal Support, Grief ' +
  'Circle, Adult ADHD Coaching, Recovery Foundations, Trauma Stabilization, Teen ' +
  'Resilience, Couples Track, Pain and Pacing, Medication Management, Mindful Mornings, ' +
  'Caregiver Support, Young Adult Transitions, Panic Recovery, Healthy Boundaries, Return ' +
  'to Work, Parenting Together'
).split(', ');
