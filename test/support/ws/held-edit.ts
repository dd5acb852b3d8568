import type { Gateway } from '../gateway.ts';
import { changes, countOf } from '../mutation/edits.ts';
import { type RawSocket, subscribe, until } from './raw-socket.ts';

/** Sends a magic edit over the socket. Resolves once the Partner API has it, which answers when `release` is called. */
export async function holdEdit(gateway: Gateway, socket: RawSocket) {
  const { promise: heldUntil, resolve: release } = Promise.withResolvers<void>();
  gateway.sandbox.answerNext(changes.magicEdit.route, { heldUntil, body: {} });
  const { document, input } = changes.magicEdit;
  const edit = { input: { ...input, progressNoteId: gateway.sandbox.ids.note(0, 0) } };
  socket.send(subscribe('edit', document, edit));
  await until(() => countOf(gateway, 'magicEdit') === 1);
  return { release, late: subscribe('late', document, edit) };
}
