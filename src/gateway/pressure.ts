import type { IncomingMessage, ServerResponse } from 'node:http';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

import { refuseTransport } from './refusal.ts';

/** Past this share of the room for what stays, collections take most of the time and the end is near. */
const HIGH = 0.9;
/** What V8's limit counts in for young objects, which old ones can't have. */
const YOUNG_BYTES = 192 * 2 ** 20;
const LOOK_EVERY_MS = 250;
const RETRY_AFTER_SECONDS = '5';

type Handler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface Pressure {
  isHigh(): boolean;
  /** Sends callers away while memory is short. */
  shed(handler: Handler): Handler;
}

/**
 * Watches how much memory is left. Queries and new sockets can come back later, or elsewhere; a webhook takes next to
 * nothing and tells of something that has happened, so it is let in to the last.
 */
export function createPressure(): Pressure {
  const room = getHeapStatistics().heap_size_limit - YOUNG_BYTES;
  let high = false;
  let lookedAt = -Infinity;

  function isHigh(): boolean {
    const now = performance.now();
    if (now - lookedAt < LOOK_EVERY_MS) return high;
    lookedAt = now;
    const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
    high = old.reduce((sum, space) => sum + space.space_used_size, 0) > room * HIGH;
    return high;
  }

  return {
    isHigh,
    shed: (handler) => (req, res) => (isHigh() ? refuse(req, res) : handler(req, res)),
  };
}

const { status, errors } = refuseTransport(
  503,
  'This gateway is short of memory. Try again in a moment.',
  'UPSTREAM_UNAVAILABLE',
);
const BODY = JSON.stringify({ errors });

function refuse(req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'retry-after': RETRY_AFTER_SECONDS,
  });
  res.end(BODY);
}
