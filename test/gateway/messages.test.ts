import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';
import { dialIn, subscribe } from '../support/ws/raw-socket.ts';

let open: Gateway;
let closed: Gateway;
beforeAll(async () => {
  open = await openGateway({ env: { GRAPHIQL: 'on' } });
  closed = await openGateway({ env: { GRAPHIQL: 'off' }, sandbox: open.sandbox });
});
afterAll(async () => {
  await closed?.close();
  await open?.close();
});

const clients = (args: string) => `{ clinic(id: "x") { clients(${args}) { totalCount } } }`;
const FILTER =
  'query($f: ClinicClientFilter) { clinic(id: "x") { clients(filter: $f) { totalCount } } }';
const IDS = 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }';
const ARGUMENT = 'Argument "Clinic.clients(filter:)" has invalid value';
const VARIABLE = 'Variable "$f" has invalid value';
const OBJECT = 'Expected value of type "ClinicClientFilter"';
const DATE = 'Expected a date as YYYY-MM-DD, but got another value.';

/** A document, its variables and the error message; a suggestion after `|`. */
const CASES: readonly [string, object, ...string[]][] = [
  // Written in the document.
  [
    '{ organizations(first: "Canary") { totalCount } }',
    {},
    'Argument "Query.organizations(first:)" has invalid value: Int cannot represent non-integer value.',
  ],
  [
    '{ organizations(first: 77777777777) { totalCount } }',
    {},
    'Argument "Query.organizations(first:)" has invalid value: Int cannot represent non 32-bit signed integer value.',
  ],
  [
    'query($n: Int = "Canary") { organizations(first: $n) { totalCount } }',
    {},
    'Variable "$n" has invalid default value: Int cannot represent non-integer value.',
  ],
  [
    '{ viewer @include(if: "Canary") { subject } }',
    {},
    'Argument "@include(if:)" has invalid value: Boolean cannot represent a non boolean value.',
  ],
  [
    '{ nodes(ids: ["a", null, { Canary: 1 }]) { id } }',
    {},
    'Argument "Query.nodes(ids:)" has invalid value at [1]: Expected value of non-null type "ID!" not to be null.',
    'Argument "Query.nodes(ids:)" has invalid value at [2]: ID cannot represent a non-string and non-integer value.',
  ],
  [clients('filter: { dateOfBirth: "Canary" }'), {}, `${ARGUMENT} at .dateOfBirth: ${DATE}`],
  [
    clients('filter: { email: 777 }'),
    {},
    `${ARGUMENT} at .email: String cannot represent a non string value.`,
  ],
  [clients('filter: "Canary"'), {}, `${ARGUMENT}: ${OBJECT} to be an object.`],
  [
    clients('filter: { status: ACTIV }'),
    {},
    `${ARGUMENT} at .status: Value does not exist in "ClientStatus" enum.`,
  ],
  [
    clients('filter: { status: "ACTIV" }'),
    {},
    `${ARGUMENT} at .status: Enum "ClientStatus" cannot represent non-enum value.`,
  ],
  [
    clients('filter: { firstNam: "Canary" }'),
    {},
    `${ARGUMENT}: ${OBJECT} not to include unknown field "firstNam".`,
  ],
  [
    'mutation { updateProgressNote(input: { progressNoteId: "x" }) { __typename } }',
    {},
    'Argument "Mutation.updateProgressNote(input:)" has invalid value: Expected value of type "UpdateProgressNoteInput" to include required field "patch".',
  ],
  // Sent as variables. Their keys are values too.
  [FILTER, { f: { dateOfBirth: 'Canary' } }, `${VARIABLE} at .dateOfBirth: ${DATE}`],
  [
    FILTER,
    { f: { status: 'ACTIV Did you mean Canary?' } },
    `${VARIABLE} at .status: Value does not exist in "ClientStatus" enum.`,
  ],
  [
    FILTER,
    { f: { status: 777 } },
    `${VARIABLE} at .status: Enum "ClientStatus" cannot represent non-string value.`,
  ],
  [FILTER, { f: 'Canary' }, `${VARIABLE}: ${OBJECT} to be an object.`],
  [FILTER, { f: ['Canary'] }, `${VARIABLE}: ${OBJECT} to be an object.`],
  [FILTER, { f: { firstNam: 'Canary' } }, `${VARIABLE}: ${OBJECT} not to include unknown fields.`],
  ...['x". Did you mean Canary? Found: ', 'the Canary', 'x"Canary", "'].map(
    (key): [string, object, string] => [
      FILTER,
      { f: { [key]: 1 } },
      `${VARIABLE}: ${OBJECT} not to include unknown fields.`,
    ],
  ),
  [
    IDS,
    { ids: [{ Canary: 1 }, 1.5, 'a'] },
    ...[0, 1].map((i) => `Variable "$ids" has invalid value at [${i}]: ID cannot represent value.`),
  ],
  [
    IDS,
    {},
    'Variable "$ids" has invalid value: Expected a value of non-null type "[ID!]!" to be provided.',
  ],
  [
    'query($ids: [ID!] = ["a"]) { nodes(ids: $ids) { id } }',
    { ids: null },
    'Argument "Query.nodes(ids:)" has invalid value: Expected variable "$ids" provided to non-null type "[ID!]!" not to be null.',
  ],
  // Names, as graphql reports them.
  [
    '{ viewer { subjct } }',
    {},
    'Cannot query field "subjct" on type "Viewer".| Did you mean "subject"?',
  ],
  [
    '{ viewer }',
    {},
    'Field "viewer" of type "Viewer!" must have a selection of subfields.| Did you mean "viewer { ... }"?',
  ],
  [
    '{ node { id } }',
    {},
    'Argument "Query.node(id:)" of type "ID!" is required, but it was not provided.',
  ],
  [
    '{ viewer(name: "Canary") { subject } }',
    {},
    'Unknown argument "name" on field "Query.viewer".',
  ],
  ['{ viewer "Canary" }', {}, 'Syntax Error: Expected Name, found String.'],
  ['{ viewer(a: "\\uSent") }', {}, 'Syntax Error: Invalid Unicode escape sequence.'],
  ['{ viewer(a: .1555) }', {}, 'Syntax Error: Invalid number, expected digit before "."'],
  ['{ viewer """Canary" here""" }', {}, 'Syntax Error: Expected Name, found BlockString.'],
  // Windows.
  [
    '{ organizations(first: 200) { totalCount } }',
    {},
    '"first" must be between 1 and 100, but got 200',
  ],
  [
    'query($n: Int) { organizations(last: $n) { totalCount } }',
    { n: 0 },
    '"last" must be between 1 and 100, but got 0',
  ],
];

describe('the errors of invalid input', () => {
  it.each(CASES)('%s %j', async (document, variables, ...messages) => {
    const [reported, plain] = [
      await open.query(document, variables),
      await closed.query(document, variables),
    ];
    expect(reported.errors?.map(({ message }) => message)).toEqual(
      messages.map((text) => text.replace('|', '')),
    );
    expect(plain.errors?.map(({ message }) => message)).toEqual(
      messages.map((text) => text.replace(/\|.*/, '')),
    );
    for (const { errors } of [reported, plain]) {
      expect(errors!.map(({ message }) => message).join()).not.toMatch(/Canary|77/);
      expect(errors).toEqual(
        errors?.map(() =>
          expect.objectContaining({
            locations: [expect.anything()],
            extensions: expect.objectContaining({ code: 'BAD_USER_INPUT' }),
          }),
        ),
      );
    }
    expect(open.sandbox.countOf()).toBe(0);
  });

  it('have the location of the value, or of the field', async () => {
    const where = async (document: string) => (await open.query(document)).errors;
    expect(
      await where(
        '{ clinic(id: "x") {\n clients(filter: {\n dateOfBirth: "x" }) { totalCount } } }',
      ),
    ).toMatchObject([{ locations: [{ line: 2, column: 18 }] }]);
    const windows = await where(
      '{ organizations(first: 200) { nodes {\n all: clinics(last: 0) { totalCount } } } }',
    );
    expect(windows).toMatchObject([
      {
        locations: [{ line: 2, column: 2 }],
        path: ['organizations', 'nodes', 'all'],
        extensions: { issues: ['"last" must be between 1 and 100, but got 0'] },
      },
      { locations: [{ line: 1, column: 3 }], path: ['organizations'] },
    ]);
  });

  it('are five at most, and quick, for 60,000 invalid items', async () => {
    const before = performance.now();
    const { errors } = await open.query(IDS, { ids: Array.from({ length: 60_000 }, () => ({})) });
    expect(errors).toHaveLength(5);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it('are the same over WebSocket', async () => {
    using socket = await dialIn(open);
    socket.send(subscribe('literal', clients('filter: { dateOfBirth: "Canary" }')));
    expect((await socket.next()).payload).toMatchObject([
      { message: `${ARGUMENT} at .dateOfBirth: ${DATE}`, locations: [{ line: 1 }] },
    ]);
    socket.send({
      id: 'variable',
      type: 'subscribe',
      payload: { query: FILTER, variables: { f: { dateOfBirth: 'Canary' } } },
    });
    expect((await socket.next()).payload).toMatchObject([
      { message: `${VARIABLE} at .dateOfBirth: ${DATE}` },
    ]);
    socket.send(subscribe('window', '{ organizations(first: 200) { totalCount } }'));
    expect((await socket.next()).payload).toMatchObject([
      { path: ['organizations'], locations: [{ line: 1, column: 3 }] },
    ]);
  });
});

describe('the error of a failed call', () => {
  it('names no route of the Partner API', async () => {
    const { note } = open.sandbox.ids;
    for (const status of [400, 403, 409, 500, 503]) {
      const answer = { status, body: { error: { message: 'no' } } };
      for (let i = 0; i < 3; i += 1)
        open.sandbox.answerNext('GET /progress-notes/:progressNoteId', answer);
      const id = note(20 + Math.round(status / 100), status % 2);
      const { errors } = await open.query('query($id: ID!) { progressNote(id: $id) { note } }', {
        id,
      });
      expect(errors?.[0]?.message).toMatch(/^[A-Z][^/]*\.$/);
    }
  });
});
