export const nameOf = (person) =>
  [person?.firstName, person?.lastName].filter(Boolean).join(' ') || 'Name not shown';

export const initialsOf = (person) =>
  [person?.firstName, person?.lastName].map((name) => name?.[0] ?? '').join('') || '·';

/** Where a session stands, in the order in which it gets there. */
export const STANDING = {
  waiting: 'Waiting',
  writing: 'Being written',
  rewriting: 'Being rewritten',
  ready: 'Ready',
  locked: 'Finalized',
  failed: 'Transcription failed',
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
const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** The time for today, the day for the past. */
export function momentWords(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? `Today, ${hour.format(date)}` : day.format(date);
}

/** A calendar date has no time zone: it is read as noon, so that none can move it to another day. */
export const dateWords = (date) => (date ? day.format(new Date(`${date}T12:00:00`)) : '');

/** Seconds from the start; anything else as it came. */
export function clockWords(value) {
  if (typeof value !== 'number') return typeof value === 'string' ? value : '';
  const seconds = Math.floor(value);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** `riskOfComplications` and `medication_management`, as a person would write them. */
export function plainWords(name) {
  const words = String(name)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase()
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The Partner API does not say what else a session's record holds: a date is shown if there is one. */
export function dateIn(record) {
  const entries = Object.entries(record ?? {});
  const found = entries.find(
    ([key, value]) =>
      /start|date|created|time/i.test(key) &&
      typeof value === 'string' &&
      /^\d{4}-\d{2}-\d{2}T/.test(value),
  );
  return found?.[1];
}
