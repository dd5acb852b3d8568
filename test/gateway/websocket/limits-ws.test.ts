import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import { times } from '../../support/graph/sized-documents.ts';
import { dialIn, subscribe } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());

const EVENT = 'subscription { events { cursor } }';
const NAMES = ['organization', 'clinics(first: 1)', 'nodes'];

/** `transcriptReady.session.client.clinic.organization.clinics.nodes.organization…` */
function deep(depth: number): string {
  const open = ['transcriptReady', 'session', 'client', 'clinic'];
  while (open.length < depth - 1) open.push(NAMES[(open.length - 4) % 3]!);
  return `subscription { ${open.join('{')}{__typename${'}'.repeat(open.length)} }`;
}

/** Each type is one token, and cheap to validate. */
function ofTokens(count: number): string {
  const shell = 'subscription{events(filter:{types:[]}){cursor}}';
  const types = times(count - shell.match(/\w+|\S/g)!.length, () => 'TRANSCRIPT_READY');
  return shell.replace('[]', `[${types}]`);
}

const CASES: readonly [string, number, (size: number) => string][] = [
  ['levels of fields', 24, deep],
  ['aliases', 30, (n) => `subscription { events { ${times(n, (i) => `a${i}: cursor`)} } }`],
  [
    'directives',
    20,
    (n) => `subscription { events { ${times(n, () => 'cursor @include(if: true)')} } }`,
  ],
  ['characters', 15_000, (n) => `${EVENT} #`.padEnd(n, '#')],
];

describe('over WebSocket', () => {
  it.each(CASES)('an operation may have this many %s: %d', async (name, limit, document) => {
    using socket = await dialIn(gateway);
    socket.send(subscribe('fits', document(limit)));
    socket.send(subscribe('exceeds', document(limit + 1)));
    const { id, type, payload } = await socket.next();
    expect([id, type, payload[0].extensions.code]).toEqual(['exceeds', 'error', 'BAD_USER_INPUT']);
    expect(payload[0].message).toContain(`at most ${limit} ${name}`);
    socket.send({ type: 'ping' });
    expect(await socket.next()).toEqual({ type: 'pong' });
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('an operation may have 1,000 tokens, where the limit of characters allows it', async () => {
    await using permissive = await openGateway({ env: { LIMIT_DOCUMENT_CHARACTERS: '50000' } });
    using socket = await dialIn(permissive);
    socket.send(subscribe('fits', ofTokens(1_000)));
    socket.send(subscribe('exceeds', ofTokens(1_001)));
    const { id, payload } = await socket.next();
    expect([id, payload[0].message]).toEqual([
      'exceeds',
      'Syntax Error: Document contains more than 1000 tokens. Parsing aborted.',
    ]);
  });

  it('windows are checked, cost is estimated, and variables may have 200 levels', async () => {
    using socket = await dialIn(gateway);
    const clients = (first: number) =>
      `subscription { transcriptReady { session { client { clinic { clients(first: ${first}) { nodes { id } } } } } } }`;
    socket.send(subscribe('window', clients(101)));
    expect((await socket.next()).payload[0].extensions.code).toBe('BAD_USER_INPUT');
    const clinic =
      'clinicians(first: 100) { nodes { clients(first: 100) { nodes { sessions(first: 100) { nodes { raw } } } } } }';
    socket.send(
      subscribe(
        'cost',
        `subscription { transcriptReady { session { client { clinic { ${clinic} } } } } }`,
      ),
    );
    expect((await socket.next()).payload[0].extensions.code).toBe('QUERY_TOO_EXPENSIVE');
    const levels = '['.repeat(20_000) + ']'.repeat(20_000);
    socket.send(
      `{"id":"deep","type":"subscribe","payload":{"query":"${EVENT}","variables":{"a":${levels}}}}`,
    );
    expect((await socket.next()).payload[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(gateway.sandbox.countOf()).toBe(0);
  });
});
