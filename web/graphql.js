const TOKEN = 'live-notes-token';

/** For this tab only: closing it signs out. */
export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? undefined,
  set: (value) => sessionStorage.setItem(TOKEN, value),
  clear: () => sessionStorage.removeItem(TOKEN),
};

export const authorization = () => (token.get() ? { authorization: `Bearer ${token.get()}` } : {});

/** What the server said no to; `code` says which no. */
export class Refused extends Error {
  constructor(errors) {
    super(errors[0]?.message ?? 'The server answered nothing.');
    this.code = errors[0]?.extensions?.code;
  }
}

/** The server could not be reached, or not be understood: whether it did anything is not known. */
export class Unreachable extends Error {}

/** Partial answers are answers; only one without data is a failure. */
export async function ask(query, variables = {}) {
  const answer = await send({ query, variables });
  if (!answer.data) throw new Refused(answer.errors ?? []);
  return answer.data;
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
