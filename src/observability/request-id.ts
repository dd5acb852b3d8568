import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const REQUEST_ID_HEADER = 'x-request-id';

/**
 * UUIDs, hex and decimal numbers, with separators or without, after one short word or none (`req-42`), and ULIDs. They
 * are logged, so long ids, and those that could be a name, a date of birth, a key or a token, are not accepted.
 */
const PLAIN_ID =
  /^(?=.{1,40}$)(?=.*\d)(?!.*(?<![0-9a-f])\d\d?[-_.:]\d\d?(?![0-9a-f]))(?:[a-z]{1,8}[-_.:])?(?:[0-9a-f]+(?:[-_.:][0-9a-f]+)*|[0-9a-hjkmnp-tv-z]{26})$/i;

export const requestIdOf = ({ headers }: IncomingMessage): string =>
  String(headers[REQUEST_ID_HEADER]);

/** Gives a request its id, in its headers: the client's if it is a plain one, or else a new one. */
export function assignRequestId({ headers }: IncomingMessage): string {
  const given = headers[REQUEST_ID_HEADER];
  const isPlain = typeof given === 'string' && PLAIN_ID.test(given);
  return (headers[REQUEST_ID_HEADER] = isPlain ? given : randomUUID());
}
