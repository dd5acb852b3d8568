/** Empty if it could not be loaded, or there is none. */
export const fullName = (person) => [person?.firstName, person?.lastName].filter(Boolean).join(' ');

export const nameOf = (person) => fullName(person) || 'Name not shown';

export const initialsOf = (person) =>
  [person?.firstName, person?.lastName].map((name) => [...(name ?? '')][0]).join('') || '·';

/** The status of a session's note, in the order in which it changes. */
export const STATUS = {
  waiting: 'No note',
  writing: 'Being written',
  rewriting: 'Being rewritten',
  ready: 'Ready',
  locked: 'Finalized',
  failed: 'Transcription failed',
  unknown: 'Not loaded',
};

const EVENTS = {
  TRANSCRIPT_READY: 'Transcript ready',
  SESSION_TRANSCRIPT_ERROR: 'Transcription failed',
  PROGRESS_NOTE_GENERATED: 'Note written',
  PROGRESS_NOTE_REGENERATED: 'Note rewritten',
  PROGRESS_NOTE_FINALIZED: 'Note finalized',
  MDM_ELEMENTS_IDENTIFIED: 'Decision making identified',
  ASSESSMENT_COMPLETED: 'Assessment completed',
};
export const eventWords = (type) => EVENTS[type] ?? type;

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const hour = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** The time if it is today, else the date. */
export function dateTimeWords(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? `Today, ${hour.format(date)}` : day.format(date);
}

/** A calendar date has no time zone. It is parsed as noon, so that no time zone moves it to another day. */
export const bornWords = (person) =>
  person?.dateOfBirth ? `born ${day.format(new Date(`${person.dateOfBirth}T12:00:00`))}` : '';

/** Seconds from the start, as minutes and seconds. A string is returned unchanged. */
export function clockWords(value) {
  if (typeof value !== 'number') return typeof value === 'string' ? value : '';
  const seconds = Math.floor(value);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** As clinicians write them. */
const ACRONYMS = /\b(soap|dap|birp|girp|pirp|mdm|adhd|ptsd|emdr|cbt|dbt)\b/g;

/** "Risk of complications" for `riskOfComplications`, "SOAP note" for `soap_note`. */
export function plainWords(name) {
  const words = String(name)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase()
    .trim();
  return words
    .replace(ACRONYMS, (word) => word.toUpperCase())
    .replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/** `phq9` is PHQ-9. */
export const assessmentName = (id) =>
  String(id)
    .toUpperCase()
    .replace(/^([A-Z]+)(\d+)$/, '$1-$2');

export const countWords = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** What a list of sessions shows. `count` is set if there are more than are shown. */
export function listWords(kind, count, total, isNewestFirst) {
  const of = count ? `${count} of ` : '';
  if (kind === 'client' || kind === 'session')
    return `${of}${countWords(total, 'session')}${isNewestFirst ? ', newest first' : ''}`;
  const all = kind === 'clinic' ? 'All clinicians. ' : '';
  const clients = `${of && `the first ${of}`}${countWords(total, 'client')}`;
  const order = isNewestFirst ? ', newest on top' : '';
  return `${all}Sessions of ${clients}${order}. New notes appear automatically.`;
}

/** The Partner API does not document all fields of a session. If one of them is a date, it is shown. */
export function dateIn(record) {
  const entries = Object.entries(record ?? {});
  const found = entries.find(
    ([key, value]) =>
      /start|(?<!up)date|created|time/i.test(key) &&
      typeof value === 'string' &&
      /^\d{4}-\d{2}-\d{2}T/.test(value),
  );
  return found?.[1];
}
