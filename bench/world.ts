/**
 * The records that the imitated Partner API holds. Nothing is stored: an id says what it belongs to, so that
 * there are as many records as a run asks for, and none of them costs memory.
 */
const PREFIXES = {
  organization: '0a9a0000',
  clinic: 'c11c0000',
  clinician: 'c11d0000',
  client: 'c11e0000',
  session: '5e550000',
  note: '90e00000',
} as const;

export type Kind = keyof typeof PREFIXES;

export const PAGE_SIZE = 10;
const CLIENTS_OF_A_CLINIC = 25;
const SESSIONS_OF_A_CLIENT = 10;
/** At least as long as the longest list that is measured. */
const CLIENT_STRIDE = 16_384;
const SESSION_STRIDE = 16;

/** For a clinic, `total` is how many clients it has. */
export function idOf(kind: Kind, index: number, total = 0): string {
  const size = total.toString(16).padStart(4, '0');
  return `${PREFIXES[kind]}-${size}-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

/** One level above the note's session, and two. */
export const clientOfNote = (index: number): string =>
  idOf('client', Math.floor(index / SESSION_STRIDE));
export const clinicOfNote = (index: number): string =>
  idOf('clinic', Math.floor(index / SESSION_STRIDE / CLIENT_STRIDE));

const indexOf = (id: string): number => Number.parseInt(id.slice(24), 16);
const totalOf = (id: string): number => Number.parseInt(id.slice(9, 13), 16) || CLIENTS_OF_A_CLINIC;

/** About 640 bytes: what makes a note's answer 0.8 KB, and 250 of them 203 KB. */
const NOTE = JSON.stringify(
  ['Subjective', 'Objective', 'Assessment', 'Plan'].map((heading) => ({
    heading,
    text: `${heading}: ${'the quick brown fox jumps over the lazy dog; '.repeat(3)}`.slice(0, 128),
  })),
);

const NAMES = ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil', 'Fay', 'Gus', 'Hana', 'Ivo', 'June'];

function noteBody(index: number): string {
  return `{"progressNoteId":"${idOf('note', index)}","sessionId":"${idOf('session', index)}","isLoading":false,"note":${NOTE}}`;
}

function page(total: number, number: number, row: (index: number) => string): string {
  const start = (number - 1) * PAGE_SIZE;
  const rows = Array.from({ length: Math.max(0, Math.min(PAGE_SIZE, total - start)) }, (_, i) =>
    row(start + i),
  );
  return `{"data":[${rows.join(',')}],"meta":{"totalItems":${total},"totalPages":${Math.ceil(total / PAGE_SIZE)},"itemsPerPage":${PAGE_SIZE},"currentPage":${number}}}`;
}

function clientsBody(clinicId: string, number: number): string {
  const first = indexOf(clinicId) * CLIENT_STRIDE;
  return page(
    totalOf(clinicId),
    number,
    (i) =>
      `{"id":"${idOf('client', first + i)}","firstName":"${NAMES[i % NAMES.length]}","lastName":"Example","externalId":"x-${i}","status":"active"}`,
  );
}

function sessionsBody(clientId: string, number: number): string {
  const first = indexOf(clientId) * SESSION_STRIDE;
  return page(
    SESSIONS_OF_A_CLIENT,
    number,
    (i) => `{"sessionId":"${idOf('session', first + i)}","sessionExternalId":"s-${i}"}`,
  );
}

/** `/clinics/<uuid>/clients?page=2`, without the version. */
const LIST = /^\/(clinics|clients)\/([0-9a-f-]{36})\/(?:clients|sessions)(?:\?page=(\d+))?$/;
const NOTE_PATH = /^\/(?:progress-notes|sessions)\/([0-9a-f-]{36})(?:\/progress-note)?$/;

/** The body of a GET, or undefined for a route that no workload takes. */
export function bodyOf(path: string): string | undefined {
  const note = NOTE_PATH.exec(path)?.[1];
  if (note) return noteBody(indexOf(note));
  const [, list, id, number] = LIST.exec(path) ?? [];
  if (!id) return undefined;
  const wanted = Number(number ?? 1);
  return list === 'clinics' ? clientsBody(id, wanted) : sessionsBody(id, wanted);
}
