import { dateIn } from '../words.js';

/** A page may stay open for days: beyond this number the oldest are removed. */
const MAX_ROWS = 300;

/**
 * The listed sessions, by id. Events come in any order: a note's status is taken from the note as it was read, and an
 * event without a note only changes the status while no note is known.
 */
export function createSessions() {
  const rows = new Map();

  /** From the lists, as read just now. If the response was incomplete, a note that is not in it may exist. */
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
    /** By date, newest first; those without a date last. */
    all() {
      const sorted = [...rows.values()].toSorted((a, b) => (b.at ?? '').localeCompare(a.at ?? ''));
      for (const { id } of sorted.splice(MAX_ROWS)) rows.delete(id);
      return sorted;
    },
    /** Whether the order can be called that: every session has a date. */
    isNewestFirst: () => rows.size > 1 && [...rows.values()].every(({ at }) => at),
    clear: () => rows.clear(),
  };
}

/** What a session's record says, and its date without one in the record. */
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

/** The time of the first event that begins a session: other events may be about an old one. */
export function begunAt(events, known) {
  const begins = events.filter(({ type }) => BEGINNINGS.includes(type));
  const times = begins.map(({ occurredAt }) => occurredAt).concat(known ?? []);
  return times.toSorted((a, b) => a.localeCompare(b))[0];
}

/** A session that no list has is known by its id only: it has nothing to show. */
export const hasContent = ({ raw, progressNote, events }) =>
  Boolean(raw ?? progressNote ?? events?.length);

/** The page of the list in a record: of clients, of sessions, or of the session itself. One known by its id only has none. */
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

/** The first words of a note, whatever its elements look like. */
function previewOf(note) {
  const [first] = note ?? [];
  if (typeof first === 'string') return first;
  const texts = Object.values(first ?? {}).filter((value) => typeof value === 'string');
  return texts.toSorted((a, b) => b.length - a.length)[0];
}
