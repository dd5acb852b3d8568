import { CloseCode, type WebSocket as ProtocolSocket } from 'graphql-ws';
import type { WebSocket } from 'ws';

import { MESSAGES } from '../../viewer/authenticate.ts';
import { type Viewer, hasExpired } from '../../viewer/viewer.ts';
import { Backlog, LARGE_CHARACTERS, type OpenConnection } from '../open-connections.ts';
import type { GatewayParts } from '../gateway.ts';
import type { GatewayContext } from '../yoga.ts';

/** Clients of graphql-ws reconnect after these two, 4403 and 4408; other codes are final. */
const GOING_AWAY = 1001;
export const TRY_AGAIN_LATER = 1013;

/** graphql-ws has reasons of its own, and puts the client's id into one, which may be longer than a reason can be. */
const REASONS: Readonly<Record<number, string>> = {
  [GOING_AWAY]: 'Going away',
  [TRY_AGAIN_LATER]: 'Try again later',
  [CloseCode.BadRequest]: 'Invalid message',
  [CloseCode.SubscriberAlreadyExists]: 'Subscriber already exists',
};

/** Events are sent as bytes: `ws` takes a fifth more CPU for a string. */
const AS_TEXT = { binary: false };

/** It is answered before its socket closes: otherwise its client would send it again. */
export const isMutation = ({ operation }: GatewayContext) => operation?.kind === 'mutation';

/** One client's socket, and the limits on it. */
export class WsConnection implements ProtocolSocket, OpenConnection {
  readonly ws: WebSocket;
  /** Of the upgrade, until the client has authenticated: longer, it would take 6 % of a subscriber's memory. */
  requestId: string | undefined;
  /** Undefined until the client has authenticated. */
  viewer: Viewer | undefined;
  /** False once it is closing: nothing more is sent. */
  isOpen = true;
  /** True once this process ends or the token has expired: no operation is begun. */
  isEnding = false;
  /** Operations that have begun, and are neither answered nor subscriptions yet. */
  running = 0;
  /** True from the end of a mutation until its outcome is sent. */
  hasUnsentOutcome = false;
  hasPonged = true;
  /** Ends the operations that graphql-ws runs. */
  onClosed: (() => Promise<void>) | undefined;
  readonly #parts: GatewayParts;
  #messages = 0;
  /** Messages sent in a row while too much was buffered. */
  #sentWhileFull = 0;
  #windowEndsAt = 0;
  #pingAt: number;
  /** Exists while the client reads too slowly. */
  #backlog: Backlog | undefined;

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
    if (this.#parts.connections.ofViewer.acquire(viewer.subject)) this.viewer = viewer;
    else this.close(TRY_AGAIN_LATER);
    return this.isOpen;
  }

  get protocol(): string {
    return this.ws.protocol;
  }

  onMessage(handle: (text: string) => Promise<void>): void {
    this.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (!this.countMessage()) return;
      // It throws for invalid messages, such as a type that only servers send.
      if (isBinary) this.close();
      else handle(data.toString()).catch(() => this.close());
    });
  }

  close(code: number = CloseCode.BadRequest, given = ''): void {
    if (!this.isOpen) return;
    this.release();
    this.ws.close(code, REASONS[code] ?? given);
  }

  /** Frees its resources now: the client may acknowledge the close late, or never. */
  release(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#backlog = undefined;
    if (this.viewer) this.#parts.connections.ofViewer.release(this.viewer.subject);
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

  /** Not for events. Behind a large result some short ones are sent: without `complete`, the client would repeat it. */
  send(text: string): void {
    if (!this.isOpen) return;
    const { config, connections, runningContexts } = this.#parts;
    const { length } = text;
    // Bytes of earlier results. The one that is sent may itself be larger.
    const isFull = this.ws.bufferedAmount > 4 * 2 ** 20;
    this.#sentWhileFull = isFull ? this.#sentWhileFull + 1 : 0;
    // Messages that end an operation, pongs and small results are shorter.
    const isShort = length <= 1_024 && this.#sentWhileFull <= config.limits.socketQueueEvents;
    const isOwn = ({ viewer }: GatewayContext) => viewer === this.viewer;
    const runsMutation = this.running > 0 && runningContexts.filter(isOwn).some(isMutation);
    const isMutating = this.hasUnsentOutcome || runsMutation;
    this.hasUnsentOutcome = false;
    if (isFull && !isShort && !isMutating) return this.#closeSlowClient();
    if (length < LARGE_CHARACTERS) return this.ws.send(text);
    const { subject } = this.viewer!;
    const isCounted = connections.unread.acquire(subject, length);
    if (!isCounted && !isMutating) return this.#closeSlowClient();
    const release = () => isCounted && connections.unread.release(subject, length);
    this.ws.send(Buffer.from(text), AS_TEXT, release);
  }

  /**
   * The message of an event, whose payload all subscribers share. graphql-ws serializes each result for each
   * subscriber: for 5,000 of them that takes 4.4 times the CPU of raw `ws`. This takes 1 to 1.9 times as much, since
   * readers may sleep between two messages, and 2.4 times the heap. The promise resolves once the reader has caught up.
   */
  deliver(text: string, bytes = Buffer.from(text)): void | Promise<void> {
    if (!this.isOpen) return;
    const { limits } = this.#parts.config;
    if (this.#backlog) return this.#backlog.put(text, limits) ?? this.#closeSlowClient();
    // Nothing is buffered, as is nearly always the case. `ws` takes an eighth more CPU for a callback.
    if (this.ws.bufferedAmount === 0) return this.ws.send(bytes, AS_TEXT);
    this.#backlog = new Backlog();
    this.ws.send(bytes, AS_TEXT, () => this.#flush());
    return this.#backlog.caughtUp.promise;
  }

  /** Sends the next one that waits, each when the one before is sent. None is sent once the token has expired. */
  #flush(): void {
    const text = this.isExpired ? undefined : this.#backlog?.take();
    if (text === undefined) this.#backlog = undefined;
    else this.ws.send(Buffer.from(text), AS_TEXT, () => this.#flush());
  }

  /** True once the token has expired. `check` closes the socket after its answers. */
  get isExpired(): boolean {
    return this.viewer !== undefined && hasExpired(this.viewer);
  }

  get isBusy(): boolean {
    return (this.isOpen && this.running > 0) || this.ws.bufferedAmount >= LARGE_CHARACTERS;
  }

  /** A client repeats what was not answered when its socket closes, and a mutation must not be sent twice. */
  end(code: number = GOING_AWAY, reason?: string): void {
    this.isEnding = true;
    if (this.running === 0) this.close(code, reason);
  }

  destroy(): void {
    this.close(GOING_AWAY);
    this.ws.terminate();
  }

  check(now: number, isLate: boolean): void {
    if (this.isExpired) this.end(CloseCode.Forbidden, MESSAGES.expired);
    else if (this.isEnding) this.end();
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
