import { byId, el } from '../dom.js';
import { ask, Unreachable } from '../graphql.js';
import { MAGIC_EDIT } from '../operations.js';

const AGAIN_AFTER_MS = [1_000, 3_000, 6_000];
/** Replaces the server's messages about keys and events, which are for developers. */
const NO_ANSWER = 'No answer yet. Asking again: the note is rewritten only once.';
const MESSAGES = {
  OUTCOME_UNKNOWN:
    'It is not known whether this was accepted. If it was, the new version appears automatically.',
  TIMEOUT: 'No answer yet. Try again in a moment: the note is rewritten only once.',
};
const NOT_NOW = 'The note can’t be rewritten right now. Try again in a moment.';

/** Requests a magic edit of the open note. */
export function createEditForm({ onAccepted, onLocked }) {
  const ids = ['edit', 'instructions', 'edit-state', 'edit-problem', 'ask'];
  const [form, field, state, problem, button] = ids.map(byId);
  let target;
  /** What was typed, by session, until it is accepted. */
  const drafts = new Map();
  /** Keys of edits without a known outcome, by session and text. */
  const keys = new Map();
  /** Sessions whose edit is being sent. The button is not disabled meanwhile: it would lose the focus. */
  const sending = new Set();
  let hadReason = false;

  async function submit() {
    const asked = target;
    const userInstructions = field.value.trim();
    if (!asked?.noteId || sending.has(asked.sessionId) || userInstructions === '') return;
    const edit = JSON.stringify([asked.sessionId, userInstructions]);
    // The same text keeps its key until its outcome is known. So the note is edited once, however often the text is sent.
    const idempotencyKey = keys.get(edit) ?? newKey();
    keys.set(edit, idempotencyKey);
    sending.add(asked.sessionId);
    show('Sending …');
    try {
      // The global id, because the note's UUID may change with each version, and a key is for one input.
      const input = { progressNoteId: asked.noteId, userInstructions, idempotencyKey };
      const result = await sendEdit(input, () => say(asked, NO_ANSWER));
      keys.delete(edit);
      report(result, asked);
    } catch (error) {
      complain(asked, MESSAGES[error.code] ?? (error.isUpstream ? NOT_NOW : error.message));
      if (error.code === 'OUTCOME_UNKNOWN' && isOpen(asked)) problem.append(' ', sendAnyway(edit));
    } finally {
      sending.delete(asked.sessionId);
    }
  }

  function report(result, asked) {
    if (result.outcome === 'ProgressNoteChange') {
      const isLoading = result.progressNote?.isLoading ?? true;
      say(asked, isLoading ? 'Accepted. The new version appears automatically.' : '');
      drafts.delete(asked.sessionId);
      if (isOpen(asked)) field.value = '';
      onAccepted(asked.sessionId, result.progressNote);
      return;
    }
    // The message only refers to the issues.
    complain(asked, result.issues?.join(' ') || result.message);
    if (result.outcome === 'ProgressNoteLocked') onLocked(asked.sessionId);
  }

  /** A separate button sends a second edit, because the first may have been accepted. */
  function sendAnyway(edit) {
    const again = el('button', { type: 'button', class: 'again' }, 'Send again anyway');
    again.addEventListener('click', () => {
      keys.delete(edit);
      button.focus();
      void submit();
    });
    return again;
  }

  const isOpen = ({ sessionId }) => sessionId === target.sessionId;
  function show(text, failure = '') {
    state.textContent = text;
    problem.textContent = failure;
  }
  /** Another session may be open by now. */
  const say = (asked, text) => isOpen(asked) && show(text);
  const complain = (asked, text) => isOpen(asked) && show('', text);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  field.addEventListener('input', () => drafts.set(target.sessionId, field.value));
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });

  return {
    /** `reason` says why the note can't be edited. It is shown beside the disabled form, or replaces it if final. */
    aim(wanted, reason, isLocked) {
      if (wanted.sessionId !== target?.sessionId) field.value = drafts.get(wanted.sessionId) ?? '';
      if (wanted.sessionId !== target?.sessionId || hadReason) show('');
      target = wanted;
      hadReason = reason !== undefined;
      if (reason) show(reason);
      form.toggleAttribute('data-locked', isLocked);
      field.disabled = hadReason;
      button.disabled = hadReason;
    },
    clearMessage() {
      if (!hadReason) show('');
    },
  };
}

/** Retries while there is no answer. The key is the same, so the note is edited once. */
async function sendEdit(input, onRetry) {
  for (const waitMs of AGAIN_AFTER_MS) {
    try {
      return (await ask(MAGIC_EDIT, { input })).data.magicEdit;
    } catch (error) {
      if (!(error instanceof Unreachable) && error.code !== 'TIMEOUT') throw error;
      onRetry();
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return (await ask(MAGIC_EDIT, { input })).data.magicEdit;
}

/** `randomUUID` exists only in secure contexts, which plain HTTP in a local network is not. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-');
}
