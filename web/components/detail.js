import { byId } from '../dom.js';
import { createEditForm } from './edit-form.js';
import { ask, Refused, Unreachable } from '../graphql.js';
import { begunAt, hasContent } from './sessions.js';
import { noteView, statusOf } from './note-view.js';
import { SESSION } from '../operations.js';
import { createSidePanel } from './side-panel.js';
import { bornWords, dateIn, dateTimeWords, nameOf, plainWords } from '../words.js';

const CANNOT_EDIT = {
  locked: 'This note is finalized. It can no longer be changed.',
  failed: 'There is no note to edit: the recording could not be transcribed.',
  waiting: 'There is no note to edit yet.',
  writing: 'The note is still being written.',
  unknown: 'The note could not be loaded.',
};

const NO_SESSION = 'There is no such session, or you may not see it.';
const NO_CLIENT = 'This link is incomplete: it does not say which client the session belongs to.';

/** One session: its note, transcript, decision making and scores. */
export function createDetail({ onFailure, onTitle, onStatus }) {
  const [box, blank, title, hint, problem, note] = [
    'session',
    'blank',
    'detail-title',
    'detail-hint',
    'session-problem',
    'note',
  ].map(byId);
  const sidePanel = createSidePanel(onFailure);
  const form = createEditForm({
    onAccepted: (sessionId, progressNote) => changed(sessionId, progressNote),
    onLocked: () => refresh(),
  });
  let open = {};
  let shown;
  /** The last two complete versions: changes in the newer one are marked. */
  let versions = [];
  let reading = 0;
  /** True if the server could not be reached the last time. */
  let isOutdated = false;

  async function show({ session, client }) {
    // What could not be loaded is loaded again.
    if (session === open.session && (shown || !session)) return;
    if (!session) blank.textContent = 'Open a session to read its note beside the transcript.';
    open = { session, client };
    reading += 1;
    isOutdated = false;
    shown = undefined;
    versions = [];
    box.hidden = true;
    blank.hidden = false;
    if (!session) return sidePanel.showScores();
    await load();
  }

  async function load() {
    void sidePanel.showScores(open.client);
    await refresh();
  }

  function explain(text) {
    blank.textContent = `${text} Open another one from the list.`;
    blank.hidden = false;
    box.hidden = true;
    onTitle('Session not found');
  }

  /** Responses may arrive out of order: only the response to the last request is shown. */
  async function refresh() {
    const turn = (reading += 1);
    if (!shown) blank.textContent = 'Loading …';
    try {
      const { data, errors } = await ask(SESSION, { ...open, hasClient: Boolean(open.client) });
      if (turn !== reading) return;
      isOutdated = false;
      const { session } = data;
      const isThere = session && hasContent(session);
      if (!isThere && errors.length > 0) throw new Refused(errors);
      if (!isThere) return explain(NO_SESSION);
      const failed = errors.map(({ path }) => path?.[1]);
      // What was read before stays on the page.
      const kept = failed.filter((name) => shown?.[name]).map((name) => [name, shown[name]]);
      const missing = new Set(failed.filter((name) => !shown?.[name]));
      draw({ ...session, ...Object.fromEntries(kept), missing });
      problem.hidden = true;
      if (errors.length > 0) onFailure(new Refused(errors), problem, load);
    } catch (error) {
      if (turn !== reading) return;
      if (error.isNotFound) return explain(open.client ? NO_SESSION : NO_CLIENT);
      isOutdated = error instanceof Unreachable;
      onFailure(error, shown ? problem : blank, load);
    }
  }

  function draw(session) {
    shown = session;
    const { client, events, progressNote, raw } = session;
    const date = dateIn(raw) ?? begunAt(events);
    title.textContent = nameOf(client);
    hint.textContent = [
      date && dateTimeWords(date),
      raw?.noteType && plainWords(raw.noteType),
      bornWords(client),
    ]
      .filter(Boolean)
      .join(' · ');
    if (progressNote && !progressNote.isLoading) remember(progressNote.note);
    // Only a part of a note that is being rewritten is returned. On a phone, the form below it would leave the screen.
    note.style.minHeight = progressNote?.isLoading
      ? `${note.getBoundingClientRect().height}px`
      : '';
    note.replaceChildren(...noteView(session, versions[1]).filter(Boolean));
    note.setAttribute('aria-busy', String(progressNote?.isLoading ?? false));
    sidePanel.draw(session);
    const status = statusOf(session);
    const edited = { noteId: progressNote?.id, sessionId: open.session };
    form.aim(edited, CANNOT_EDIT[status], status === 'locked');
    blank.hidden = true;
    box.hidden = false;
    if (status !== 'unknown') onStatus(session.id, status);
    onTitle([nameOf(client), hint.textContent.split(' · ')[0]].filter(Boolean).join(', '));
  }

  function remember(version) {
    const [latest] = versions;
    if (JSON.stringify(latest) !== JSON.stringify(version))
      versions = latest ? [version, latest] : [version];
  }

  /** The edit was accepted. This is shown at once; the result arrives as an event. */
  function changed(sessionId, progressNote) {
    if (sessionId !== open.session || !shown || !progressNote) return;
    draw({ ...shown, progressNote });
  }

  function apply(event) {
    const isAboutThis = event.session
      ? event.session.id === open.session
      : event.client?.id === open.client;
    if (!open.session || !isAboutThis) return;
    if (event.type === 'PROGRESS_NOTE_REGENERATED') form.clearMessage();
    if (event.session) void refresh();
    else void sidePanel.showScores(open.client);
  }

  /** After a reconnect. */
  function catchUp(hasMissed = isOutdated) {
    if (hasMissed && open.session) void load();
  }

  return { show, apply, catchUp };
}
