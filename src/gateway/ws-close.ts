/** graphql-ws clients come back by themselves after 1001, 1013, 4403 and 4408; the others are final to them. */
export const CLOSE = {
  goingAway: 1001,
  tryAgainLater: 1013,
  badRequest: 4400,
  forbidden: 4403,
} as const;

const REASONS: Readonly<Record<number, string>> = {
  1001: 'Going away',
  1013: 'Try again later',
  4400: 'Invalid message',
  4401: 'Unauthorized',
  4403: 'Forbidden',
  4406: 'Subprotocol not acceptable',
  4408: 'Connection initialisation timeout',
  4409: 'Subscriber already exists',
  4429: 'Too many initialisation requests',
};

/** Ours for every code: graphql-ws would put the client's own id into one, which may be longer than a reason can be. */
export const reasonFor = (code: number): string => REASONS[code] ?? 'Unexpected error';
