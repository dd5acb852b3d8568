import { standingChip } from './chip.js';
import { el, spoken } from './dom.js';
import { standingOf } from './sessions.js';
import { eventWords, momentWords, plainWords } from './words.js';

/** The note with its standing, its sections and how it came about. `before` is what was on show until now. */
export function noteView(session, before) {
  const { progressNote: note, events } = session;
  const standing = noteStanding(session);
  // The first one may be older than the log.
  const version = 1 + events.filter(({ type }) => type === 'PROGRESS_NOTE_REGENERATED').length;
  return [
    el(
      'header',
      { class: 'note-head' },
      el('h3', {}, 'Progress note'),
      version > 1 ? el('span', { class: 'version' }, `Version ${version}`) : undefined,
      standingChip(standing),
    ),
    ...bodyOf(note, standing, before),
    historyOf(events),
  ];
}

export function noteStanding({ progressNote, transcriptStatus, events }) {
  if (events.some(({ type }) => type === 'PROGRESS_NOTE_FINALIZED')) return 'locked';
  if (!progressNote && transcriptStatus === 'FAILED') return 'failed';
  return standingOf(progressNote);
}

function bodyOf(note, standing, before) {
  const sections = note?.note ?? [];
  if (sections.length === 0) return [el('p', { class: 'empty' }, EMPTY[standing] ?? EMPTY.waiting)];
  // While it is being rewritten only a part is there: that is no change yet.
  const comparable = note.isLoading ? undefined : before;
  const known = new Set(comparable?.map((section) => JSON.stringify(section)));
  return sections.map((section) => {
    const isChanged = comparable !== undefined && !known.has(JSON.stringify(section));
    return sectionOf(section, isChanged);
  });
}

const EMPTY = {
  waiting: 'No note yet.',
  writing: 'The note is being written. It appears here by itself.',
  rewriting: 'The note is being rewritten. The new version appears here by itself.',
  failed: 'The recording could not be transcribed: there will be no note.',
};

/** The Partner API does not document what a note's elements look like, so all of them are shown somehow. */
function sectionOf(section, isChanged) {
  const { title, rest } = partsOf(section);
  return el(
    'section',
    { class: 'note-section', 'data-changed': isChanged },
    title ? el('h4', {}, title, isChanged ? spoken(' (changed)') : '') : undefined,
    ...rest,
  );
}

function partsOf(section) {
  if (section === null || typeof section !== 'object') return { rest: [paragraph(section)] };
  const entries = Object.entries(section);
  const [titleKey, title] = entries.find(([key]) => /title|heading|name|label/i.test(key)) ?? [];
  const rest = entries
    .filter(([key]) => key !== titleKey)
    .map(([key, value]) =>
      /text|content|body|value/i.test(key) && typeof value !== 'object'
        ? paragraph(value)
        : paragraph(
            `${plainWords(key)}: ${typeof value === 'object' ? JSON.stringify(value) : value}`,
          ),
    );
  return { title: typeof title === 'string' ? title : undefined, rest };
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
      el('time', { datetime: occurredAt }, momentWords(occurredAt)),
    ),
  );
  return el('ol', { class: 'history', 'aria-label': 'What happened so far' }, entries);
}
