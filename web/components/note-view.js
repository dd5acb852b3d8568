import { el, hiddenText, statusChip } from '../dom.js';
import { noteStatusOf } from './sessions.js';
import { dateTimeWords, eventWords, plainWords } from '../words.js';

/**
 * The note with its status, its sections and its history. `before` is the version shown until now, and
 * `session.missing` has the names of the fields that could not be loaded.
 */
export function noteView(session, before) {
  const { progressNote: note, events } = session;
  const status = statusOf(session);
  // Counted from the events, because the API has no version. The log may not go back to the first one.
  const version = 1 + events.filter(({ type }) => type === 'PROGRESS_NOTE_REGENERATED').length;
  return [
    el(
      'header',
      { class: 'note-head' },
      el('h3', {}, 'Progress note'),
      version > 1 ? el('span', { class: 'version' }, `Version ${version}`) : undefined,
      statusChip(status),
    ),
    ...bodyOf(note, isUnknown(session) ? 'unknown' : status, before),
    historyOf(events),
  ];
}

const isUnknown = ({ progressNote, missing }) => !progressNote && missing.has('progressNote');

export function statusOf(session) {
  const { progressNote, transcriptStatus, events } = session;
  if (events.some(({ type }) => type === 'PROGRESS_NOTE_FINALIZED')) return 'locked';
  if (isUnknown(session)) return 'unknown';
  if (!progressNote && transcriptStatus === 'FAILED') return 'failed';
  return noteStatusOf(progressNote);
}

function bodyOf(note, status, before) {
  const sections = (note?.note ?? []).filter((section) => section !== null);
  if (sections.length === 0) return [el('p', { class: 'empty' }, EMPTY[status] ?? EMPTY.waiting)];
  // While the note is being rewritten, only a part of it is returned. That is not a change.
  const comparable = note.isLoading ? undefined : before;
  const known = new Set(comparable?.map((section) => JSON.stringify(section)));
  return sections.map((section) => {
    const isChanged = comparable !== undefined && !known.has(JSON.stringify(section));
    return sectionOf(section, isChanged);
  });
}

const EMPTY = {
  waiting: 'No note yet.',
  writing: 'The note is being written. It appears automatically.',
  rewriting: 'The note is being rewritten. The new version appears automatically.',
  failed: 'The recording could not be transcribed: there will be no note.',
  unknown: 'The note could not be loaded.',
};

/** The Partner API does not document the shape of a note's elements, so any shape is shown. */
function sectionOf(section, isChanged) {
  const { title, rest } = partsOf(section);
  return el(
    'section',
    { class: 'note-section', 'data-changed': isChanged },
    title ? el('h4', {}, title, isChanged ? hiddenText(' (changed)') : '') : undefined,
    ...rest,
  );
}

const TITLE = /title|heading|name|label/i;

function partsOf(section) {
  if (typeof section !== 'object') return { rest: [paragraph(section)] };
  const entries = Object.entries(section);
  const [titleKey, title] =
    entries.find(([key, value]) => typeof value === 'string' && TITLE.test(key)) ?? [];
  const rest = entries
    .filter(([key, value]) => key !== titleKey && value !== null)
    .map(([key, value]) =>
      /text|content|body|value/i.test(key) && typeof value !== 'object'
        ? paragraph(value)
        : paragraph(
            `${plainWords(key)}: ${typeof value === 'object' ? JSON.stringify(value) : value}`,
          ),
    );
  return { title, rest };
}

const paragraph = (value) => el('p', {}, String(value));

function historyOf(events) {
  if (events.length === 0) return undefined;
  const entries = events.map(({ type, occurredAt }) =>
    el(
      'li',
      {},
      eventWords(type),
      ' ',
      el('time', { datetime: occurredAt }, dateTimeWords(occurredAt)),
    ),
  );
  return el('ol', { class: 'history', 'aria-label': 'History of this note' }, entries);
}
