import type { Gateway, GraphQLAnswer } from '../gateway.ts';

const CHANGE = `type: __typename
  ... on ProgressNoteChange { cursor raw progressNote { progressNoteId isLoading isLocked note } }
  ... on Problem { message }
  ... on InvalidInput { issues }`;

const document = (field: string, type: string): string =>
  `mutation($input: ${type}!) { result: ${field}(input: $input) { ${CHANGE} } }`;

/** The mutations of a note, each with its route and a valid input. */
export const changes = {
  magicEdit: {
    document: document('magicEdit', 'MagicEditInput'),
    route: 'POST /progress-notes/:id/magic-edit',
    input: { userInstructions: 'Shorten the plan.' },
  },
  regenerate: {
    document: document('regenerateProgressNote', 'RegenerateProgressNoteInput'),
    route: 'POST /progress-notes/:id/regenerate',
    input: {},
  },
  update: {
    document: document('updateProgressNote', 'UpdateProgressNoteInput'),
    route: 'PATCH /progress-notes/:id',
    input: { patch: { note: ['By hand.'] } },
  },
} as const;

export type Change = keyof typeof changes;
export const allChanges = Object.keys(changes) as Change[];
/** Each of them is sent once, and takes an idempotency key. */
export const posts = allChanges.filter((name) => changes[name].route.startsWith('POST '));

export interface Changed extends GraphQLAnswer {
  /** The result of the mutation; null with an error. */
  readonly result: GraphQLAnswer['data'];
}

type Headers = Readonly<Record<string, string>>;

export async function change(
  gateway: Gateway,
  name: Change,
  progressNoteId: string,
  input: object = {},
  headers?: Headers,
): Promise<Changed> {
  const { document: text, input: usual } = changes[name];
  const variables = { input: { progressNoteId, ...usual, ...input } };
  const answer = await gateway.query(text, variables, headers);
  return { ...answer, result: answer.data?.result };
}

export const magicEdit = (gateway: Gateway, noteId: string, input?: object, headers?: Headers) =>
  change(gateway, 'magicEdit', noteId, input, headers);

export const countOf = ({ sandbox }: Gateway, name: Change): number =>
  sandbox.countOf(changes[name].route);

/** The body with which the Partner API's application rejects a request. */
export const envelope = (statusCode: number, message: unknown) => ({
  error: {
    type: 'SomeException',
    message,
    statusCode,
    timestamp: '2026-01-01T00:00:00.000Z',
    details: [],
  },
  path: '/somewhere',
});

export const codesOf = ({ errors }: GraphQLAnswer): unknown[] | undefined =>
  errors?.map(({ extensions }) => extensions.code);

/** The errors of a change that is not sent because the store can't be reached. */
export const nothingSent = [
  {
    message: 'Nothing was changed: this gateway can’t reach its own store. Try again in a moment.',
    extensions: { code: 'UPSTREAM_UNAVAILABLE' },
  },
];
