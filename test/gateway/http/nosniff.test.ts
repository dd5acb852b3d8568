import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { type Headers, raw, requestOf } from '../../support/raw-http.ts';

let gateway: Gateway;
let authorization: string;
beforeAll(async () => {
  gateway = await openGateway();
  authorization = `Bearer ${await tokenFor(['partner'])}`;
});
afterAll(() => gateway.close());

const json = { 'Content-Type': 'application/json' };
const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
const QUERY = '{"query":"{viewer{subject}}"}';

/** Status, request line, headers and body: every route. Node's own answers to what is no request have no body. */
const REQUESTS: readonly [number, string, Headers?, string?][] = [
  [200, 'POST /graphql HTTP/1.1', json, QUERY],
  [200, 'POST /graphql HTTP/1.1', json, '{"query":"{"}'],
  [400, 'POST /graphql HTTP/1.1', json, 'no JSON'],
  [401, 'POST /graphql HTTP/1.1', { ...json, Authorization: 'Bearer forged' }, QUERY],
  [413, 'POST /graphql HTTP/1.1', { ...json, 'Content-Length': '262145' }],
  [204, 'OPTIONS /graphql HTTP/1.1', { Origin: 'https://app.example' }],
  [200, 'GET /graphql HTTP/1.1', { Accept: 'text/html' }],
  [405, 'GET /graphql HTTP/1.1'],
  [401, 'POST /webhooks HTTP/1.1', json, '{}'],
  [200, 'GET /healthz HTTP/1.1'],
  [200, 'GET /readyz HTTP/1.1'],
  [200, 'GET /metrics HTTP/1.1'],
  [200, 'GET / HTTP/1.1'],
  [404, 'GET /nowhere HTTP/1.1'],
  [405, 'CONNECT a:1 HTTP/1.1'],
  [404, 'GET /nowhere HTTP/1.1', upgrade],
];

describe('every response forbids content sniffing', () => {
  it.each<[number, string, Headers?, string?]>(REQUESTS)(
    '%i: %s %j',
    async (status, line, headers = {}, body = '') => {
      const given = { Authorization: authorization, ...headers };
      const [head = ''] = (await raw(gateway.url, requestOf(line, given, body))).split('\r\n\r\n');
      expect(head.split('\r\n')[0]).toContain(` ${status} `);
      expect(head.toLowerCase().match(/^x-content-type-options: nosniff$/gm)).toHaveLength(1);
    },
  );

  it.each(['subscription { events { cursor } }', '{ viewer { subject } }'])(
    'the event stream of %s',
    async (query) => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { ...json, accept: 'text/event-stream', authorization },
        body: JSON.stringify({ query }),
      });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      await response.body?.cancel();
    },
  );
});
