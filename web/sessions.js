import { dateIn } from './words.js';

/** A page may stay open for days: the oldest go. */
const MOST_ROWS = 300;

/**
 * The sessions on show, by id. Events come in any order: a note is judged by how it was read, and an event that brings
 * none only tells what is not known better already.
 */
export function createSessions() {
  const rows = new Map();

  /** From the lists, as read just now. */
  function read(client, session, isFresh = false) {
    const known = rows.get(session.id);
    const row = {
      id: session.id,
      client,
      at: dateIn(session.raw) ?? known?.at,
      kind: session.raw?.noteType ?? known?.kind,
      standing: standingOf(session.progressNote, known),
      preview: previewOf(session.progressNote?.note) || known?.preview,
      isNew: known?.isNew ?? isFresh,
    };
    rows.set(session.id, row);
    return row;
  }

  /** The row that an event changes; undefined for one that belongs to no session. */
  function hear(event) {
    if (!event.session) return undefined;
    const known = rows.get(event.session.id);
    const row = {
      ...known,
      id: event.session.id,
      client: known?.client ?? event.client,
      at: known?.at ?? event.occurredAt,
      standing: heardStanding(event, known),
      preview: previewOf(event.progressNote?.note) || known?.preview,
      isNew: true,
    };
    rows.set(row.id, row);
    return row;
  }

  return {
    read,
    hear,
    get: (id) => rows.get(id),
    opened: (id) => rows.has(id) && rows.set(id, { ...rows.get(id), isNew: false }).get(id),
    /** Newest first. */
    all() {
      const sorted = [...rows.values()].toSorted((a, b) => (b.at ?? '').localeCompare(a.at ?? ''));
      for (const { id } of sorted.splice(MOST_ROWS)) rows.delete(id);
      return sorted;
    },
    clear: () => rows.clear(),
  };
}

export function standingOf(note, known) {
  // Once locked, always locked.
  if (note?.isLocked || known?.standing === 'locked') return 'locked';
  if (!note) return known?.standing ?? 'waiting';
  if (!note.isLoading) return 'ready';
  return note.progressNoteId ? 'rewriting' : 'writing';
}

function heardStanding(event, known) {
  if (event.type === 'PROGRESS_NOTE_FINALIZED') return 'locked';
  if (event.progressNote) return standingOf(event.progressNote, known);
  const isBlank = known === undefined || known.standing === 'waiting';
  if (event.type === 'SESSION_TRANSCRIPT_ERROR') return isBlank ? 'failed' : known.standing;
  return isBlank ? 'writing' : known.standing;
}

/** The first words of a note, whatever its elements look like. */
function previewOf(note) {
  const [first] = note ?? [];
  if (typeof first === 'string') return first;
  const texts = Object.values(first ?? {}).filter((value) => typeof value === 'string');
  return texts.toSorted((a, b) => b.length - a.length)[0];
}
