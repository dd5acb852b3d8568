import type { ServerResponse } from 'node:http';

import type { FanOut, Listening } from './fan-out.ts';
import type { LiveConnection, LiveConnections } from './live-connections.ts';
import { type Outlet, type OutboxLimits, createOutbox } from './outbox.ts';
import { type Payload, createPayload } from './payload.ts';

/** Some browsers and proxies show nothing of a response until there is a first byte; later ones keep it open. */
const KEEP_ALIVE = ':\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';
const STALLED_MS = 10_000;

export interface EventStreamParts {
  readonly fanOut: FanOut;
  readonly live: LiveConnections;
  readonly limits: OutboxLimits & { readonly socketPingMs: number };
  readonly onSlow: () => void;
}

/**
 * A subscription as server-sent events (graphql-sse, distinct connections). It ends without `complete` where the client
 * is to come back: its token is over, it is too slow, or this process goes.
 */
export function createEventStream({ fanOut, live, limits, onSlow }: EventStreamParts) {
  return (res: ServerResponse, listening: Listening): void => {
    const { expiresAt } = listening.viewer;
    let keepAliveAt = performance.now() + limits.socketPingMs;
    begin(res);

    function over(): void {
      subscription.end();
      outbox.close();
      live.remove(kept);
    }
    /** It reads nothing, so it would not read an end either. */
    function cut(): void {
      onSlow();
      res.destroy();
    }
    const isExpired = (): boolean => expiresAt !== undefined && Date.now() >= expiresAt;
    const outbox = createOutbox(streamOutlet(res), limits, cut);
    const kept: LiveConnection = {
      beat(now) {
        if (isExpired()) return void res.end();
        if (outbox.isStalled(now, STALLED_MS)) return cut();
        if (now < keepAliveAt) return;
        keepAliveAt = now + limits.socketPingMs;
        res.write(KEEP_ALIVE);
      },
      end: () => void res.end(),
      destroy: () => res.destroy(),
    };
    const subscription = fanOut.subscribe(listening, {
      next(payload) {
        if (res.writableEnded) return;
        if (isExpired()) return void res.end();
        return outbox.put(payload);
      },
      lost: () => void res.end(),
    });
    live.add(kept);
    res.once('close', over);
    void subscription.live.then((refusal) => {
      if (!refusal || res.writableEnded) return;
      res.write(createPayload({ errors: refusal.errors }).streamEvent);
      res.end(COMPLETE);
    });
  };
}

function begin(res: ServerResponse): void {
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  res.write(KEEP_ALIVE);
}

/** Node holds a turn's writes back to send them together, so a little is always buffered. */
const streamOutlet = (res: ServerResponse): Outlet<Payload> => ({
  write: ({ streamEvent }, onFlushed) => void res.write(streamEvent, onFlushed),
  sizeOf: ({ streamEvent }) => streamEvent.length,
  bufferedBytes: () => res.writableLength,
  enoughBytes: 16_384,
});
