import type { ServerResponse } from 'node:http';

import { type Backlog, type BacklogLimits, createBacklog } from './backlog.ts';
import type { FanOut, Listening, Subscription } from './fan-out.ts';
import { type LiveConnections, createLiveConnections } from './live-connections.ts';
import { type Payload, createPayload } from './payload.ts';
import { type Refusal, refuseTransport } from './refusal.ts';
import type { SocketCount } from './ws-limits.ts';

/** Some browsers and proxies show nothing of a response until there is a first byte; later ones keep it open. */
const KEEP_ALIVE = ':\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';
const STALLED_MS = 10_000;
/** Node holds a turn's writes back to send them together, so a little is always buffered. */
const ENOUGH_BYTES = 16_384;

export interface EventStreamParts {
  readonly fanOut: FanOut;
  readonly limits: BacklogLimits & { readonly socketPingMs: number };
  /** Sockets are counted with them: to a viewer both are a connection that stays. */
  readonly viewers: SocketCount;
  readonly onRefused: (refusal: Refusal) => void;
  readonly onSlow: () => void;
}

interface Stream {
  readonly res: ServerResponse;
  readonly expiresAt: number | undefined;
  keepAliveAt: number;
  backlog: Backlog<Payload> | undefined;
}

export interface EventStreams {
  readonly live: LiveConnections<Stream>;
  follow(res: ServerResponse, listening: Listening): void;
}

/**
 * Subscriptions as server-sent events (graphql-sse, distinct connections). A stream ends without `complete` where the
 * client is to come back: its token is over, it is too slow, or this process goes.
 */
export function createEventStreams(parts: EventStreamParts): EventStreams {
  const { fanOut, limits, viewers, onSlow } = parts;
  const live = createLiveConnections<Stream>(limits.socketPingMs, {
    beat(stream, now) {
      if (isExpired(stream)) return end(stream);
      if (isBehind(stream) && stream.backlog.isStalled(now, STALLED_MS)) return cut(stream);
      if (now < stream.keepAliveAt) return;
      stream.keepAliveAt = now + limits.socketPingMs;
      stream.res.write(KEEP_ALIVE);
    },
    end,
    destroy: ({ res }) => res.destroy(),
  });

  /** It reads nothing, so it would not read an end either. */
  function cut({ res }: Stream): void {
    onSlow();
    res.destroy();
  }

  function deliver(stream: Stream, payload: Payload): void | Promise<void> {
    const { res } = stream;
    if (isExpired(stream)) end(stream);
    if (res.writableEnded || res.destroyed) return;
    if (isBehind(stream)) {
      return stream.backlog.put(payload) ? stream.backlog.caughtUp : cut(stream);
    }
    res.write(payload.streamEvent, () => stream.backlog?.flushed());
    if (res.writableLength <= ENOUGH_BYTES) return;
    stream.backlog = createBacklog(outletOf(res), limits);
    return stream.backlog.caughtUp;
  }

  return {
    live,
    follow(res, listening) {
      const { expiresAt, subject } = listening.viewer;
      if (!viewers.enter(subject)) {
        parts.onRefused(TOO_MANY);
        return refuse(res);
      }
      const keepAliveAt = performance.now() + limits.socketPingMs;
      const stream: Stream = { res, expiresAt, keepAliveAt, backlog: undefined };
      begin(res);
      live.add(stream);
      const subscription: Subscription = fanOut.subscribe(listening, {
        next: (payload) => deliver(stream, payload),
        lost: () => end(stream),
        refused({ errors }) {
          if (res.writableEnded) return;
          res.write(createPayload({ errors }).streamEvent);
          res.end(COMPLETE);
        },
      });
      res.once('close', () => {
        viewers.leave(subject);
        fanOut.end(subscription);
        stream.backlog?.drop();
        live.remove(stream);
      });
    },
  };
}

const TOO_MANY = refuseTransport(
  429,
  'You have as many event streams and sockets open as one viewer may have: close one first.',
);
const RETRY_AFTER_SECONDS = '5';

function refuse(res: ServerResponse): void {
  res.writeHead(TOO_MANY.status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'retry-after': RETRY_AFTER_SECONDS,
  });
  res.end(JSON.stringify({ errors: TOO_MANY.errors }));
}

function begin(res: ServerResponse): void {
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  res.write(KEEP_ALIVE);
}

const end = ({ res }: Stream): void => void res.end();

const isExpired = ({ expiresAt }: Stream): boolean =>
  expiresAt !== undefined && Date.now() >= expiresAt;

const isBehind = (stream: Stream): stream is Stream & { readonly backlog: Backlog<Payload> } =>
  stream.backlog?.hasCaughtUp === false;

const outletOf = (res: ServerResponse) => ({
  write: ({ streamEvent }: Payload, onFlushed: () => void) =>
    void res.write(streamEvent, onFlushed),
  sizeOf: ({ streamEvent }: Payload) => streamEvent.length,
  isFull: () => res.writableLength > ENOUGH_BYTES,
  bufferedBytes: () => res.writableLength,
});
