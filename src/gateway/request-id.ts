import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export const REQUEST_ID_HEADER = 'x-request-id';
const MAX_CHARACTERS = 40;

/**
 * UUIDs, hex and decimal numbers, in parts or not, with one short word in front or without (`req-42`); and ULIDs. Request
 * ids stand in the log, so what could be a name, a key or a token is not accepted.
 */
const PLAIN_ID =
  /^(?=.*\d)(?:[a-z]{1,8}[-_.:])?(?:[0-9a-f]+(?:[-_.:][0-9a-f]+)*|[0-9a-hjkmnp-tv-z]{26})$/i;

export const newRequestId = (): string => randomUUID();

/** As it was assigned. Yoga copies every property of a context that is passed to it, which costs more. */
export const requestIdOf = (res: ServerResponse): string =>
  String(res.getHeader(REQUEST_ID_HEADER));

/** The client's own id if it is a plain one, or a new one. The response has it in its header. */
export function assignRequestId({ headers }: IncomingMessage, res: ServerResponse): string {
  const given = headers[REQUEST_ID_HEADER];
  const isPlain =
    typeof given === 'string' && given.length <= MAX_CHARACTERS && PLAIN_ID.test(given);
  const id = isPlain ? given : newRequestId();
  res.setHeader(REQUEST_ID_HEADER, id);
  return id;
}
