import { byId } from '../dom.js';
import { ask, Unreachable } from '../graphql.js';
import { MAGIC_EDIT } from '../operations.js';

const AGAIN_AFTER_MS = [1_000, 3_000, 6_000];

/** Requests a magic edit of the open note. */
export function createEditForm({ onAccepted, onLocked }) {
  const [form, field, state, button] = ['edit', 'instructions', 'edit-state', 'ask'].map(byId);
  let target;
  let isBusy = false;
  let hadReason = false;

  async function submit() {
    const asked = target;
    const userInstructions = field.value.trim();
    if (!asked?.progressNoteId || isBusy || userInstructions === '') return;
    // One key for each click: however often the request is sent, the note is edited once.
    const input = { ...asked, userInstructions, idempotencyKey: newKey() };
    isBusy = true;
    refresh();
    state.textContent = 'Sending …';
    try {
      report(await sendEdit(input), asked);
    } catch (error) {
      state.textContent = error.message;
    } finally {
      isBusy = false;
      refresh();
    }
  }

  function report(result, asked) {
    if (result.outcome === 'ProgressNoteChange') {
      const isLoading = result.progressNote?.isLoading ?? true;
      state.textContent = isLoading ? 'Accepted. The new version appears here by itself.' : '';
      field.value = '';
      onAccepted(asked.sessionId, result.progressNote);
      return;
    }
    state.textContent = [result.message, ...(result.issues ?? [])].join(' ');
    if (result.outcome === 'ProgressNoteLocked') onLocked(asked.sessionId);
  }

  const refresh = () => (button.disabled = isBusy || field.disabled);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });

  return {
    /** `reason` says why the note can't be edited; it stands under the button, which is then disabled. */
    aim(wanted, reason) {
      if (wanted.sessionId !== target?.sessionId) field.value = '';
      if (wanted.sessionId !== target?.sessionId || hadReason) state.textContent = '';
      target = wanted;
      hadReason = reason !== undefined;
      if (reason) state.textContent = reason;
      field.disabled = hadReason;
      refresh();
    },
    clearMessage() {
      if (!hadReason) state.textContent = '';
    },
  };
}

/** Retries while the server can't be reached. The key is the same, so the note is edited once. */
async function sendEdit(input) {
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

/** `randomUUID` exists only in secure contexts, which plain HTTP in a local network is not. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-');
}
