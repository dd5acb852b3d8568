import { byId } from './dom.js';
import { ask, Unreachable } from './graphql.js';
import { MAGIC_EDIT } from './operations.js';

const AGAIN_AFTER_MS = [1_000, 3_000, 6_000];

/** Asks for a magic edit of the session on show. */
export function createEditForm({ onAccepted, onLocked }) {
  const [form, field, state, button] = ['edit', 'instructions', 'edit-state', 'ask'].map(byId);
  let target;
  let isBusy = false;

  async function submit() {
    const asked = target;
    const userInstructions = field.value.trim();
    if (!asked?.progressNoteId || isBusy || userInstructions === '') return;
    // One key a click: however often the request has to be sent, the note is edited once.
    const input = { ...asked, userInstructions, idempotencyKey: newKey() };
    isBusy = true;
    refresh();
    state.textContent = 'Sending …';
    try {
      report(await sent(input), asked);
    } catch (error) {
      state.textContent = error.message;
    } finally {
      isBusy = false;
      refresh();
    }
  }

  function report(result, asked) {
    if (result.outcome === 'ProgressNoteChange') {
      state.textContent = 'Accepted. The new version appears here by itself.';
      field.value = '';
      onAccepted(asked.sessionId, result.progressNote);
      return;
    }
    state.textContent = [result.message, ...(result.issues ?? [])].join(' ');
    if (result.outcome === 'ProgressNoteLocked') onLocked(asked.sessionId);
  }

  const refresh = () => (button.disabled = isBusy || !target?.progressNoteId);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });

  return {
    /** A note that is locked, or not there yet, can't be edited: then there is no form. */
    aim(wanted, isOpen) {
      if (wanted?.sessionId !== target?.sessionId) {
        field.value = '';
        state.textContent = '';
      }
      target = wanted;
      form.hidden = !isOpen;
      refresh();
    },
    say: (text) => (state.textContent = text),
  };
}

/** Over a server that is away for a moment, with the same key: the gateway knows whether it has done it. */
async function sent(input) {
  for (const waitMs of AGAIN_AFTER_MS) {
    try {
      return (await ask(MAGIC_EDIT, { input })).magicEdit;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return (await ask(MAGIC_EDIT, { input })).magicEdit;
}

/** `randomUUID` is there in secure contexts only, and a sandbox in the local network has none. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-');
}
