const TOKEN = 'live-notes-token';

/** Stored for this tab only: closing the tab signs out. */
export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? undefined,
  set: (value) => sessionStorage.setItem(TOKEN, value),
  clear: () => sessionStorage.removeItem(TOKEN),
};

/** Encoded, because a user may paste characters that a header can't contain. A JWT stays the same. */
export const authorization = () =>
  token.get() ? { authorization: `Bearer ${encodeURI(token.get())}` } : {};

/** Codes of failures behind the gateway. The gateway's messages about them are for developers. */
const UPSTREAM = /^(UPSTREAM_\w+|TIMEOUT|QUERY_TOO_EXPENSIVE)$/;

/** An error of the server, in words for the users of this page. */
export const messageOf = ({ message, extensions }) =>
  UPSTREAM.test(extensions?.code) ? 'The records can’t be loaded right now.' : message;

/** The server rejected the request; `code` says why. An invalid id is treated as a missing record. */
export class Refused extends Error {
  constructor(errors) {
    super(errors[0] ? messageOf(errors[0]) : 'The server’s response is empty.');
    this.code = errors[0]?.extensions?.code;
    this.isUpstream = UPSTREAM.test(this.code);
    this.isNotFound = ['BAD_USER_INPUT', 'NOT_FOUND'].includes(this.code);
  }
}

/** The server could not be reached, or its response could not be read: the outcome is unknown. */
export class Unreachable extends Error {}

/** Data may be partial: `errors` say what is missing. If a root field failed, its error is thrown. */
export async function ask(query, variables = {}) {
  const { data, errors = [] } = await send({ query, variables });
  if (!data) throw new Refused(errors);
  const failed = errors.find(({ path }) => path && data[path[0]] === null);
  if (failed) throw new Refused([failed]);
  return { data, errors };
}

async function send(body) {
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...authorization(),
      },
      body: JSON.stringify(body),
    });
    return await response.json();
  } catch {
    throw new Unreachable('The server can’t be reached.');
  }
}
