import { CloseCode, type WebSocket as ProtocolSocket } from 'graphql-ws';
import type { WebSocket } from 'ws';

import { isObject } from '../../json.ts';
import { MESSAGES } from '../../viewer/authenticate.ts';
import { type Viewer, hasExpired } from '../../viewer/viewer.ts';
import type { Backlog, OpenConnection } from '../open-connections.ts';
import { LARGE_CHARACTERS, createBacklog } from '../open-connections.ts';
import type { GatewayContext, GatewayParts } from '../gateway.ts';

/** graphql-ws clients reconnect after these two codes, 4403 and 4408. They treat our other codes as final. */
const GOING_AWAY = 1001;
export const TRY_AGAIN_LATER = 1013;

/** Replace those of graphql-ws: one contains the operation's id, which may be longer than a close reason may be. */
const REASONS: Readonly<Record<number, string>> = {
  [GOING_AWAY]: 'Going away',
  [TRY_AGAIN_LATER]: 'Try again later',
  [CloseCode.BadRequest]: 'Invalid message',
  [CloseCode.SubscriberAlreadyExists]: 'Subscriber already exists',
};

/** Sends bytes as a text message: `ws` takes a fifth more CPU for a string. */
const AS_TEXT = { binary: false };

/** Undefined for a large message, which counts as unread before its bytes are made: many may be prepared at a time. */
export const bytesOf = (text: string) =>
  text.length < LARGE_CHARACTERS ? Buffer.from(text) : undefined;

/** A mutation is answered before its socket closes: otherwise its client would send it again. */
export const isMutation = ({ operation }: GatewayContext) => operation?.kind === 'mutation';

/** One client's socket, and the limits on it. */
export class WsConnection implements ProtocolSocket, OpenConnection {
  readonly ws: WebSocket;
  /** The upgrade request's id. Cleared once the client has authenticated: it takes 6 % of a subscriber's memory. */
  requestId: string | undefined;
  /** Undefined until the client has authenticated. */
  viewer: Viewer | undefined;
  /** False once it is closing: nothing more is sent. */
  isOpen = true;
  /** Set once it is to close after its answers: no operation is begun. */
  endCode: number | undefined;
  /** Operations that have begun, and are neither answered nor subscriptions yet. */
  running = 0;
  /** True from the end of a mutation until its outcome is sent. */
  hasUnsentOutcome = false;
  hasPonged = true;
  /** Ends the operations that graphql-ws runs. */
  onClosed: (() => Promise<void>) | undefined;
  /** Exists while the client reads too slowly. */
  backlog: Backlog | undefined;
  readonly #parts: GatewayParts;
  #messages = 0;
  /** Messages sent in a row while too much was buffered. */
  #sentWhileFull = 0;
  #windowEndsAt = 0;
  #pingAt: number;

  constructor(ws: WebSocket, requestId: string, parts: GatewayParts) {
    this.ws = ws;
    this.requestId = requestId;
    this.#parts = parts;
    this.#pingAt = performance.now() + parts.connections.pingEveryMs;
  }

  /** Closes the socket and returns false if the viewer has too many connections. */
  setViewer(viewer: Viewer): boolean {
    if (!this.isOpen) return false;
    this.requestId = undefined;
    if (this.#parts.connections.perViewer.acquire(viewer.subject)) this.viewer = viewer;
    else this.close(TRY_AGAIN_LATER);
    return this.isOpen;
  }

  get protocol(): string {
    return this.ws.protocol;
  }

  onMessage(handle: (message: string) => Promise<void>): void {
    this.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (!this.countMessage()) return;
      try {
        // graphql-ws keeps what it gets as long as a subscription runs. It accepts a parsed message too.
        const message: unknown = isBinary ? undefined : JSON.parse(data.toString());
        if (!isObject(message)) return this.close();
        // It throws for invalid messages, such as a type that only servers send.
        handle(message as never).catch(() => this.close());
      } catch {
        this.close();
      }
    });
  }

  close(code: number = CloseCode.BadRequest, given = ''): void {
    if (!this.isOpen) return;
    this.release();
    this.ws.close(code, REASONS[code] ?? given);
    // By default `ws` waits 30 s for the client's answer: too long to keep the half-sent message of an unknown client.
    if (!this.viewer) setTimeout(() => this.ws.terminate(), 1_000).unref();
  }

  /** Frees its resources now: the client may acknowledge the close late, or never. */
  release(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.backlog?.clear();
    if (this.viewer) this.#parts.connections.perViewer.release(this.viewer.subject);
    void this.onClosed?.();
  }

  /** Closes the socket and returns false if the client sends too much. Pings count too, since each costs work. */
  countMessage(): boolean {
    const { socketMessages, socketMessagesWindowMs } = this.#parts.config.limits;
    const now = performance.now();
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + socketMessagesWindowMs;
      this.#messages = 0;
    }
    this.#messages += 1;
    if (this.#messages > socketMessages) this.close(TRY_AGAIN_LATER);
    return this.isOpen;
  }

  /** Sends all messages but events. If too much is buffered, short ones pass: without `complete`, clients repeat operations. */
  send(text: string): void {
    if (!this.isOpen) return;
    const { config, connections, runningContexts } = this.#parts;
    const { length } = text;
    // Bytes of earlier results. The one that is sent may itself be larger.
    const isFull = this.ws.bufferedAmount > 4 * 2 ** 20;
    this.#sentWhileFull = isFull ? this.#sentWhileFull + 1 : 0;
    // `complete`, `error`, `pong` and small results are shorter.
    const isExempt = length <= 1_024 && this.#sentWhileFull <= config.limits.socketQueueEvents;
    const isOwnMutation = (each: GatewayContext) => each.viewer === this.viewer && isMutation(each);
    const isMutating =
      this.hasUnsentOutcome || (this.running > 0 && runningContexts.some(isOwnMutation));
    this.hasUnsentOutcome = false;
    if (isFull && !isExempt && !isMutating) return this.#closeSlowClient();
    if (length < LARGE_CHARACTERS) return this.ws.send(text);
    const { subject } = this.viewer!;
    const isCounted = connections.unread.acquire(subject, length);
    if (!isCounted && !isMutating) return this.#closeSlowClient();
    const release = () => isCounted && connections.unread.release(subject, length);
    this.ws.send(Buffer.from(text), AS_TEXT, release);
  }

  /**
   * Sends an event. All subscribers share its payload: graphql-ws would serialize it for each of them, which takes 4.4
   * times the CPU of raw `ws` for 5,000 subscribers. This takes 1 to 1.9 times the CPU, since clients may sleep between
   * two messages, and 2.4 times the heap.
   */
  deliver(text: string, bytes = bytesOf(text)): void {
    // After an event that could not wait, none is sent: the client resumes on another socket.
    if (!this.isOpen || this.endCode === TRY_AGAIN_LATER) return;
    // Nothing is buffered, as is nearly always the case. `ws` takes an eighth more CPU for a callback.
    if (!this.backlog && this.ws.bufferedAmount === 0 && bytes) return this.ws.send(bytes, AS_TEXT);
    const isSending = this.backlog !== undefined;
    this.backlog ??= createBacklog(this.#parts, this.viewer!);
    if (!this.backlog.put(text)) {
      this.#parts.metrics.slowConsumerClosed();
      this.end(TRY_AGAIN_LATER);
    } else if (!isSending) this.#flush(this.backlog);
  }

  /** Sends the waiting events, each once the system has taken the one before. Sends none once the token has expired. */
  #flush(backlog: Backlog): void {
    for (let isTaken = true; isTaken;) {
      if (this.isExpired) backlog.clear();
      const text = backlog.take();
      if (text === undefined) return void (this.backlog = undefined);
      let isOver = false;
      this.ws.send(Buffer.from(text), AS_TEXT, () => isOver || this.#flush(backlog));
      // If the client reads, the system takes it at once. The callback comes later, and other events may come first.
      isTaken = isOver = this.ws.bufferedAmount === 0;
    }
  }

  /** `check` closes the socket of an expired token, once its operations are answered. */
  get isExpired(): boolean {
    return this.viewer !== undefined && hasExpired(this.viewer);
  }

  get isBusy(): boolean {
    return (this.isOpen && this.running > 0) || this.ws.bufferedAmount >= LARGE_CHARACTERS;
  }

  /** Closes once all operations are answered: a client repeats the others, and a mutation must not be sent twice. */
  end(code = this.endCode ?? GOING_AWAY, reason?: string): void {
    this.endCode = code;
    if (this.running === 0) this.close(code, reason);
  }

  destroy(): void {
    this.close(GOING_AWAY);
    this.ws.terminate();
  }

  check(now: number, isLate: boolean): void {
    if (this.isExpired) this.end(CloseCode.Forbidden, MESSAGES.expired);
    else if (this.endCode) this.end();
    if (now < this.#pingAt || (isLate && !this.hasPonged)) return;
    if (!this.hasPonged) return this.ws.terminate();
    this.hasPonged = false;
    this.#pingAt = now + this.#parts.connections.pingEveryMs;
    this.ws.ping();
  }

  #closeSlowClient(): void {
    this.#parts.metrics.slowConsumerClosed();
    this.close(TRY_AGAIN_LATER);
  }
}
