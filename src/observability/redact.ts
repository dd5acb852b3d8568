/** Stands in place of a text that might hold anything about a person. */
const WITHHELD = '[withheld]';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
// Line breaks of every script and what terminals obey, so that a line can't be forged or hidden.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Codes, templates and the like. No address, no id of a person, nothing longer than a sentence. */
export const plainText = (text: string): string =>
  /^[\w .,:;/{}()[\]<>=-]{0,160}$/.test(text) && !UUID.test(text) ? text : WITHHELD;

/** A frontend chooses its operations' names, so only a plain one is repeated. */
export function operationName(name: string | undefined): string {
  if (name === undefined) return 'anonymous';
  return /^\w{1,64}$/.test(name) ? name : WITHHELD;
}

/** A client may choose it. */
export const requestIdText = (id: string | undefined): string | undefined =>
  id === undefined || /^[\w.:-]{1,128}$/.test(id) ? id : WITHHELD;

/** Who asked, as the token's issuer spells it. */
export const subjectText = (subject: string): string =>
  subject.slice(0, 256).replace(CONTROLS, '?');

/** Errors of our own, whose messages are written to be logged. BAD_USER_INPUT may repeat what the caller sent. */
const OWN_CODES =
  /^(CONFIG|UNAUTHENTICATED|NOT_FOUND|QUERY_TOO_EXPENSIVE|OUTCOME_UNKNOWN|EVENTS_EXPIRED|TIMEOUT|STORE_UNAVAILABLE|UPSTREAM_(UNAVAILABLE|RATE_LIMITED|BAD_RESPONSE|CREDENTIALS|ROUTE))$/;
const OWN_FRAME = /^\s+at .*\b(src\/[\w/-]+\.ts:\d+)/m;

/** An error by its class and code. Any other message may quote a body or a URL, so it is left out. */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { error: error === null ? 'null' : typeof error };
  const { name, message, stack = '' } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isOwn = OWN_CODES.test(code);
  const isSafe = message.length <= 4_000 && !/@|:\/\//.test(message) && !UUID.test(message);
  // The stack begins with the message, which can look like a frame.
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  return {
    error: /^[A-Za-z]\w{0,63}$/.test(name) ? name : 'Error',
    code: /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined,
    detail: isOwn ? (isSafe ? message.replace(CONTROLS, ' ') : WITHHELD) : undefined,
    at: isOwn ? undefined : OWN_FRAME.exec(frames)?.[1],
  };
}
