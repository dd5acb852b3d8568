import { createBeside } from './beside.js';
import { byId } from './dom.js';
import { createEditForm } from './edit-form.js';
import { ask } from './graphql.js';
import { noteStanding, noteView } from './note-view.js';
import { SESSION } from './operations.js';
import { dateIn, dateWords, momentWords, nameOf, plainWords } from './words.js';

/** One session: its note, and what it was made from. */
export function createDetail(onFailure) {
  const [box, blank, title, hint, note] = [
    'session',
    'blank',
    'detail-title',
    'detail-hint',
    'note',
  ].map(byId);
  const beside = createBeside();
  const form = createEditForm({
    onAccepted: (sessionId, progressNote) => changed(sessionId, progressNote),
    onLocked: () => refresh().catch(onFailure),
  });
  let open = {};
  let shown;
  /** The last two whole versions: what the newer one changed stays marked while it is open. */
  let versions = [];
  let reading = 0;

  async function show({ session, client }) {
    if (session === open.session) return;
    open = { session, client };
    shown = undefined;
    versions = [];
    blank.hidden = session !== undefined;
    box.hidden = true;
    if (session) await refresh();
  }

  /** Answers may overtake each other: only the one asked for last is shown. */
  async function refresh() {
    const turn = (reading += 1);
    const { session, events } = await ask(SESSION, { id: open.session, clientId: open.client });
    if (turn !== reading) return;
    if (!session) throw new Error('There is no such session, or none that you may see.');
    draw(session, events?.nodes ?? []);
  }

  function draw(session, scores) {
    shown = { session, scores };
    const { client, progressNote, raw } = session;
    title.textContent = nameOf(client);
    hint.textContent = [
      dateIn(raw) && momentWords(dateIn(raw)),
      raw?.noteType && plainWords(raw.noteType),
      client?.dateOfBirth && `born ${dateWords(client.dateOfBirth)}`,
    ]
      .filter(Boolean)
      .join(' · ');
    if (progressNote && !progressNote.isLoading) remember(progressNote.note);
    note.replaceChildren(...noteView(session, versions[1]).filter(Boolean));
    note.setAttribute('aria-busy', String(progressNote?.isLoading ?? false));
    beside.draw(session, scores);
    const progressNoteId = progressNote?.progressNoteId;
    const isOpen = Boolean(progressNoteId) && noteStanding(session) !== 'locked';
    form.aim({ progressNoteId, sessionId: open.session, clientId: open.client }, isOpen);
    box.hidden = false;
  }

  function remember(version) {
    const [latest] = versions;
    if (JSON.stringify(latest) !== JSON.stringify(version))
      versions = latest ? [version, latest] : [version];
  }

  /** The edit was accepted: shown at once, while its result is on the way as an event. */
  function changed(sessionId, progressNote) {
    if (sessionId !== open.session || !shown || !progressNote) return;
    draw({ ...shown.session, progressNote }, shown.scores);
  }

  function hear(event) {
    const isOurs = event.session
      ? event.session.id === open.session
      : event.client?.id === open.client;
    if (!open.session || !isOurs) return;
    if (event.type === 'PROGRESS_NOTE_REGENERATED') form.say('');
    void refresh().catch(onFailure);
  }

  return { show, hear };
}
