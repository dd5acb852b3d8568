import { setImmediate as nextTurn } from 'node:timers/promises';

type Handle = (text: string) => Promise<unknown>;

/**
 * graphql-ws handles messages side by side. An operation that is begun, completed and begun again in one breath would
 * run twice, and one sent with the first message would come before its viewer is known. So messages wait for the
 * connection to be initialized, and those about an operation for the one before to have taken effect.
 */
export class MessageOrder {
  #initializing: Promise<unknown> | undefined;
  /** There while an operation begins or ends. */
  #busy: Map<string, PromiseWithResolvers<void>> | undefined;

  async handle(text: string, handle: Handle): Promise<unknown> {
    const { type, id } = headOf(text);
    while (this.#initializing) await this.#initializing;
    if (type === 'connection_init') {
      const handled = handle(text);
      this.#initializing = handled.catch(() => undefined);
      await this.#initializing;
      this.#initializing = undefined;
      return handled;
    }
    if (id === undefined) return handle(text);
    while (this.#busy?.has(id)) await this.#busy.get(id)?.promise;
    if (type === 'subscribe') {
      this.#begin(id);
      // Not waited for: it lasts as long as the operation.
      return handle(text);
    }
    this.#begin(id);
    await handle(text);
    // Until graphql-ws has forgotten the operation.
    await nextTurn();
    this.settled(id);
    return undefined;
  }

  /** The operation runs, or does not: what else is said of it may be handled. */
  settled(id: string): void {
    this.#busy?.get(id)?.resolve();
    this.#busy?.delete(id);
    if (this.#busy?.size === 0) this.#busy = undefined;
  }

  #begin(id: string): void {
    this.#busy ??= new Map();
    this.#busy.set(id, Promise.withResolvers());
  }
}

function headOf(text: string): { readonly type?: unknown; readonly id?: string } {
  try {
    const { type, id } = JSON.parse(text) as Record<string, unknown>;
    return { type, ...(typeof id === 'string' && { id }) };
  } catch {
    return {};
  }
}
