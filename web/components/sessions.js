import { dateIn } from '../words.js';

/** A page may stay open for days: beyond this number the oldest are removed. */
const MAX_ROWS = 300;

/**
 * The listed sessions, by id. Events arrive in any order, so the status is taken from the note as it was read. An event
 * without a note changes the status only while no note is known.
 */
export function createSessions() {
  const rows = new Map();

  /** Adds sessions that were just read from the lists. If the response was incomplete, a missing note may exist. */
  function read(client, session, isComplete) {
    const known = rows.get(session.id);
    rows.set(session.id, {
      ...known,
      id: session.id,
      client: { id: client.id, firstName: client.firstName, lastName: client.lastName },
      ...factsOf(session, known),
      status:
        session.progressNote || known || isComplete
          ? noteStatusOf(session.progressNote, known)
          : 'unknown',
      preview: previewOf(session.progressNote?.note) || known?.preview,
      isNew: known?.isNew ?? false,
    });
  }

  function apply(event) {
    if (!event.session) return;
    const known = rows.get(event.session.id);
    rows.set(event.session.id, {
      ...known,
      id: event.session.id,
      client: known?.client ?? event.client,
      ...factsOf({ raw: event.session.raw, events: [event] }, known),
      status: statusAfter(event, known),
      preview: previewOf(event.progressNote?.note) || known?.preview,
      isNew: true,
    });
  }

  return {
    read,
    apply,
    markRead: (id) => rows.has(id) && rows.set(id, { ...rows.get(id), isNew: false }),
    setStatus: (id, status) => rows.has(id) && rows.set(id, { ...rows.get(id), status }),
    /** By date, newest first. Sessions without a date are last. */
    all() {
      const sorted = [...rows.values()].toSorted((a, b) => (b.at ?? '').localeCompare(a.at ?? ''));
      for (const { id } of sorted.splice(MAX_ROWS)) rows.delete(id);
      return sorted;
    },
    /** True if the list is sorted by date: every session has one. */
    isNewestFirst: () => rows.size > 1 && [...rows.values()].every(({ at }) => at),
    clear: () => rows.clear(),
  };
}

/** The data of a session's record. If the record has no date, the date of an event. */
function factsOf({ raw, events = [] }, known) {
  const date = dateIn(raw) ?? known?.date;
  const begun = begunAt(events, known?.begun);
  return {
    date,
    begun,
    at: date ?? begun,
    kind: raw?.noteType ?? known?.kind,
    clinicianId: raw?.clinicianId ?? known?.clinicianId,
  };
}

const BEGINNINGS = ['TRANSCRIPT_READY', 'SESSION_TRANSCRIPT_ERROR', 'PROGRESS_NOTE_GENERATED'];

/** The time of the first event that only a new session has. Other events may be about an old session. */
export function begunAt(events, known) {
  const begins = events.filter(({ type }) => BEGINNINGS.includes(type));
  const times = begins.map(({ occurredAt }) => occurredAt).concat(known ?? []);
  return times.toSorted((a, b) => a.localeCompare(b))[0];
}

/** A session that is in no list is known only by its id: it has nothing to show. */
export const hasContent = ({ raw, progressNote, events }) =>
  Boolean(raw ?? progressNote ?? events?.length);

/** The page of clients, of sessions, or of the session itself in a record. A record known only by its id has none. */
export const pageIn = (record) =>
  record?.clients ??
  record?.sessions ??
  (record && hasContent(record) && { nodes: [record], totalCount: 1, pageInfo: {} });

/** The clients of that page, each with sessions. */
export function clientsIn(record, page, clientId) {
  if (record.clients) return page.nodes;
  const client = record.sessions ? record : (record.client ?? { id: clientId });
  return [{ ...client, sessions: page }];
}

export function noteStatusOf(note, known) {
  // A finalized note stays finalized.
  if (note?.isLocked || known?.status === 'locked') return 'locked';
  if (!note) return known?.status ?? 'waiting';
  if (!note.isLoading) return 'ready';
  return note.progressNoteId ? 'rewriting' : 'writing';
}

function statusAfter(event, known) {
  if (event.type === 'PROGRESS_NOTE_FINALIZED') return 'locked';
  if (event.progressNote) return noteStatusOf(event.progressNote, known);
  const isWaiting = known === undefined || ['waiting', 'unknown'].includes(known.status);
  if (event.type === 'SESSION_TRANSCRIPT_ERROR') return isWaiting ? 'failed' : known.status;
  return isWaiting ? 'writing' : known.status;
}

/** The first words of a note, whatever the shape of its elements. */
function previewOf(note) {
  const [first] = note ?? [];
  if (typeof first === 'string') return first;
  const texts = Object.values(first ?? {}).filter((value) => typeof value === 'string');
  return texts.toSorted((a, b) => b.length - a.length)[0];
}
