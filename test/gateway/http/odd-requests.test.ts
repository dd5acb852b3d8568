import { gzipSync } from 'node:zlib';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { type Headers, raw, requestOf } from '../../support/raw-http.ts';

let gateway: Gateway;
let authorization: string;
const lines: string[] = [];
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(line) });
  authorization = `Bearer ${await tokenFor(['partner'])}`;
});
afterEach(() => {
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  lines.length = 0;
});
afterAll(() => gateway.close());

const BODY = '{"query":"{viewer{subject}}"}';
const POST = 'POST /graphql HTTP/1.1';

interface Odd {
  readonly line?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
}

async function answerTo({ line = POST, headers = {}, body = BODY }: Odd) {
  const usual = { 'Content-Type': 'application/json', Authorization: authorization };
  const response = await raw(gateway.url, requestOf(line, { ...usual, ...headers }, body));
  const [head = '', ...rest] = response.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), text: rest.join('') };
}

const chunked = (body: string) => ({ headers: { 'Transfer-Encoding': 'chunked' }, body });
const typed = (type: string | readonly string[]) => ({ headers: { 'Content-Type': type } });

/** Rejected, since a proxy in front might read it differently. */
const REJECTED: Readonly<Record<string, readonly [number, Odd]>> = {
  'the same length twice': [400, { headers: { 'Content-Length': ['29', '29'] } }],
  'two lengths': [400, { headers: { 'Content-Length': ['29', '5'] } }],
  'a length and chunks': [
    400,
    { headers: { 'Content-Length': '29', 'Transfer-Encoding': 'chunked' } },
  ],
  'a length with a sign': [400, { headers: { 'Content-Length': '+29' } }],
  'another transfer encoding': [400, { headers: { 'Transfer-Encoding': 'identity' } }],
  'chunks that are not the last encoding': [
    400,
    { headers: { 'Transfer-Encoding': 'chunked, identity' } },
  ],
  'a chunk of no size': [400, chunked(`zz\r\n${BODY}\r\n0\r\n\r\n`)],
  'a chunk with 20 kB beside its size': [
    413,
    chunked(`1d;${'a'.repeat(20_000)}\r\n${BODY}\r\n0\r\n\r\n`),
  ],
  'a header over two lines': [400, { headers: { X: 'a\r\n b' } }],
  'a header with a NUL': [400, { headers: { X: 'a\0b' } }],
  'no host': [400, { headers: { Host: undefined } }],
  'a host with a space': [400, { headers: { Host: 'a b' } }],
  'a port above 65,535, in a preflight': [
    400,
    { line: 'OPTIONS /graphql HTTP/1.1', headers: { Host: 'a:65536' } },
  ],
  'a URL of another host': [400, { line: 'POST http://evil.example/graphql HTTP/1.1' }],
  'an authority for a path': [400, { line: 'POST evil.example:80 HTTP/1.1' }],
  'HTTP/3.7': [400, { line: 'POST /graphql HTTP/3.7' }],
  'a method in lower case': [400, { line: 'post /graphql HTTP/1.1' }],
  'a method that is none': [400, { line: 'FOO /graphql HTTP/1.1' }],
  'a NUL in the path': [400, { line: 'POST /graphql\0 HTTP/1.1' }],
  PROPFIND: [405, { line: 'PROPFIND /graphql HTTP/1.1' }],
  'a URL of 17 kB': [431, { line: `POST /graphql?${'a'.repeat(17_000)} HTTP/1.1` }],
  'an expectation that can’t be met': [417, { headers: { Expect: 'miracles' } }],
  'a header of 17 kB': [431, { headers: { X: 'a'.repeat(17_000) } }],
  text: [415, typed('text/plain')],
  'a form': [415, typed('application/x-www-form-urlencoded')],
  'a form with files': [415, typed('multipart/form-data; boundary=b')],
  'a document without JSON': [415, typed('application/graphql')],
  'another charset': [415, typed('application/json; charset=utf-16')],
  'a charset twice': [415, typed('application/json; charset=utf-8; charset=utf-16')],
  'a charset with spaces': [415, typed('application/json; charset = utf-16')],
  'an empty charset': [415, typed('application/json; charset=')],
  'two types in one': [415, typed('application/json, text/plain')],
  'the wrong type first': [415, typed(['text/plain', 'application/json'])],
  'JSON by another name': [415, typed('application/vnd.api+json')],
  'JSON as a parameter': [415, typed('text/plain; application/json')],
  'no type': [415, { headers: { 'Content-Type': undefined } }],
  'a compressed body': [
    415,
    { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(Buffer.alloc(10 * 1024 * 1024)) },
  ],
  'one encoding hidden behind another': [
    415,
    { headers: { 'Content-Encoding': 'identity, gzip' } },
  ],
  'an empty encoding': [415, { headers: { 'Content-Encoding': ' ' } }],
  'a client that takes HTML': [406, { headers: { Accept: 'text/html' } }],
  'a client that takes no JSON': [406, { headers: { Accept: 'application/json;q=0' } }],
  'a client that says nothing at length': [406, { headers: { Accept: 'a/b,'.repeat(3_000) } }],
  'a wrong token before the right one': [401, { headers: { Authorization: ['Bearer x', 'y'] } }],
  'a token as a cookie': [
    401,
    { headers: { Authorization: undefined, Cookie: 'authorization=x' } },
  ],
  'a byte order mark': [400, { body: `\ufeff${BODY}` }],
  'UTF-16': [400, { body: Buffer.from(BODY, 'utf16le') }],
  'Latin-1': [
    400,
    { body: Buffer.from('{"query":"{viewer{subject}}","variables":{"a":"é"}}', 'latin1') },
  ],
  'two bodies': [400, { body: BODY + BODY }],
  'a comment': [400, { body: `/**/${BODY}` }],
  'a trailing comma': [400, { body: '{"query":"{viewer{subject}}",}' }],
  NaN: [400, { body: '{"query":"{viewer{subject}}","variables":{"a":NaN}}' }],
  '200,000 open brackets': [400, { body: '['.repeat(200_000) }],
  'variables of 201 levels': [
    400,
    { body: `{"query":"{viewer{subject}}","variables":{"a":${deep(200)}}}` },
  ],
  'variables of 100,000 levels': [
    400,
    { body: `{"query":"{viewer{subject}}","variables":{"a":${deep(100_000)}}}` },
  ],
  'a query as a syntax tree': [400, { body: '{"query":{"kind":"Document","definitions":[]}}' }],
};

function deep(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

/** Unusual, but unambiguous. */
const ACCEPTED: Readonly<Record<string, Odd>> = {
  'HTTP/1.0': { line: 'POST /graphql HTTP/1.0' },
  'a query in the URL, which is not looked at': { line: 'POST /graphql?query={x} HTTP/1.1' },
  'a wish for another method': { headers: { 'X-HTTP-Method-Override': 'DELETE' } },
  'a wish for traces and plans': {
    headers: { 'X-Apollo-Tracing': '1', 'GraphQL-Query-Plan': '1', 'Apollo-Query-Plan': '1' },
  },
  'chunks with extensions and trailers': chunked(`1d;a=b\r\n${BODY}\r\n0\r\nX: 1\r\n\r\n`),
  'a charset': typed('application/json; charset=utf-8'),
  'a quoted charset': typed('application/json; charset="UTF-8"'),
  'a type in capitals': typed('APPLICATION/JSON'),
  'a client that would like parts': { headers: { Accept: 'multipart/mixed, application/json' } },
  'the hash of another document': {
    body: '{"query":"{viewer{subject}}","extensions":{"persistedQuery":{"sha256Hash":"a"},"tracing":true}}',
  },
  'a query twice, of which the last counts': {
    body: '{"query":"{x}","query":"{viewer{subject}}"}',
  },
  'variables of 200 levels': {
    body: `{"query":"{viewer{subject}}","variables":{"a":${deep(199)}}}`,
  },
  'extensions of 100,000 levels': {
    body: `{"query":"{viewer{subject}}","extensions":{"a":${deep(100_000)}}}`,
  },
  'half a surrogate pair': { body: '{"query":"{viewer{subject}}","variables":{"a":"\\ud800"}}' },
};

describe('an unusual request', () => {
  it.each(Object.entries(REJECTED))('is rejected with %s', async (_, [status, odd]) => {
    gateway.sandbox.resetCounts();
    const answer = await answerTo(odd);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toMatch(/ {4}at |node:|did you mean/i);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it.each(Object.entries(ACCEPTED))('is accepted with %s', async (_, odd) => {
    const { status, text } = await answerTo(odd);
    expect(status).toBe(200);
    expect(text).toContain('{"viewer":{"subject":"tester"}}');
    // Nothing extra for a request that asks for it.
    expect(text).toMatch(/"extensions":\{"upstream":\{[^}]*\}\}\}$/);
  });

  it.each([
    '//graphql',
    '/x/../graphql',
    '/%67raphql',
    '/GRAPHQL',
    '/graphql/',
    '/graphql;x',
    '/graphql#x',
  ])('is not found at %s', async (path) => {
    expect((await answerTo({ line: `POST ${path} HTTP/1.1` })).status).toBe(404);
  });
});

describe('a connection', () => {
  const query = (headers: Headers) => {
    const all = { 'Content-Type': 'application/json', Authorization: authorization, ...headers };
    return requestOf(POST, { ...all }, BODY);
  };

  it('is closed after an event stream if the client asks for that', async () => {
    const response = await raw(gateway.url, query({ Accept: 'text/event-stream' }));
    expect(response).toMatch(/^HTTP\/1.1 200 [^]*\r\nconnection: close\r\n/i);
    expect(response).toContain('event: complete');
  });

  it.each([
    ['an upgrade', 'GET /graphql HTTP/1.1', { Connection: 'Upgrade', Upgrade: 'websocket' }],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1', {}],
  ])('is closed by %s behind a request that is not answered yet', async (_, line, headers) => {
    const next = requestOf(line, { ...headers, 'Content-Length': undefined });
    const sent = Buffer.concat([query({ Connection: 'keep-alive' }), next]);
    expect(await raw(gateway.url, sent)).toBe('');
  });

  it('is not held up by a long Accept or Content-Type', async () => {
    const began = process.cpuUsage();
    for (const text of [','.repeat(15_000), ';'.repeat(15_000)])
      for (let count = 0; count < 50; count += 1) {
        await answerTo({ headers: { Accept: text } });
        await answerTo({ headers: { 'Content-Type': text } });
      }
    const { user } = process.cpuUsage(began);
    expect(user / 200).toBeLessThan(5_000);
  });
});
