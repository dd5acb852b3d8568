import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { assessments, bytesOf, delivery, macOf, uuid } from '../support/events/deliveries.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { type Headers, raw, requestOf } from '../support/raw-http.ts';
import { gauge } from '../support/ws/raw-socket.ts';

let gateway: Gateway;
const lines: string[] = [];
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(line) });
});
afterEach(() => {
  expect(gateway.sandbox.countOf()).toBe(0);
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  lines.length = 0;
});
afterAll(() => gateway.close());

const POST = 'POST /webhooks HTTP/1.1';
const secret = () => gateway.sandbox.connection.clientSecret;
const FULL = bytesOf(delivery('transcript_ready'));
const TEXT = FULL.toString();

async function answerTo(body: Buffer | string, headers: Headers = {}, line = POST) {
  const bytes = Buffer.from(body);
  const all = { 'X-Signature': macOf(bytes, secret()), ...headers };
  const [head = '', rest = ''] = (await raw(gateway.url, requestOf(line, all, bytes))).split(
    '\r\n\r\n',
  );
  return { status: Number(head.split(' ')[1]), text: rest };
}

const ready = (payload: object = {}, envelope: object = {}) =>
  JSON.stringify(delivery('transcript_ready', { ...payload }, { ...envelope }));
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const nested = (levels: number) => TEXT.replace('"payload":{', `"payload":{"x":${deep(levels)},`);

it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])(
  'the route accepts only POST: %s',
  async (method) => {
    const { status, headers } = await fetch(`${gateway.url}/webhooks`, { method });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  },
);

describe('an unusual signature', () => {
  it.each<[string, (mac: string) => Headers]>([
    ['given twice', (mac) => ({ 'X-Signature': [mac, mac] })],
    ['given twice, once wrong', (mac) => ({ 'X-Signature': ['x', mac] })],
    ['in another header', (mac) => ({ 'X-Signature': undefined, 'X-Hub-Signature-256': mac })],
    ['in a header with underscores', (mac) => ({ 'X-Signature': undefined, X_Signature: mac })],
    ['with a prefix', (mac) => ({ 'X-Signature': `0x${mac}` })],
    ['that names an algorithm', (mac) => ({ 'X-Signature': `sha256=${mac}` })],
    ['in base64', (mac) => ({ 'X-Signature': Buffer.from(mac, 'hex').toString('base64') })],
    ['of 15 kB', () => ({ 'X-Signature': 'a'.repeat(15_000) })],
    ['by the API key', () => ({ 'X-Signature': macOf(FULL, gateway.sandbox.connection.apiKey) })],
    [
      'by the client id',
      () => ({ 'X-Signature': macOf(FULL, gateway.sandbox.connection.clientId) }),
    ],
    ['by "undefined"', () => ({ 'X-Signature': macOf(FULL, 'undefined') })],
    [
      'of a body with one more space',
      () => ({ 'X-Signature': macOf(Buffer.from(`${TEXT} `), secret()) }),
    ],
  ])('is rejected with an empty body: %s', async (_, headers) => {
    expect(await answerTo(FULL, headers(macOf(FULL, secret())))).toEqual({ status: 401, text: '' });
  });

  it('is not read from the URL', async () => {
    const line = `POST /webhooks?x-signature=${macOf(FULL, secret())} HTTP/1.1`;
    expect((await answerTo(FULL, { 'X-Signature': undefined }, line)).status).toBe(401);
  });

  it('may be in upper case, with white space around it', async () => {
    const mac = macOf(FULL, secret()).toUpperCase();
    expect((await answerTo(FULL, { 'X-Signature': ` \t${mac}  ` })).status).toBe(200);
  });
});

it('an invalid signature is logged once a minute, and never as it was sent', async () => {
  const own: string[] = [];
  await using other = await openGateway({ onLog: (line) => own.push(line) });
  const headers = { 'x-signature': macOf(FULL, 'a guess') };
  for (let n = 0; n < 20; n += 1)
    await fetch(`${other.url}/webhooks`, { method: 'POST', body: TEXT, headers });
  const about = own.filter((line) => line.includes('signature'));
  expect(about.map((line) => JSON.parse(line).msg)).toEqual([
    'webhook signature mismatch in header x-signature',
  ]);
  expect(own.join('')).not.toContain(headers['x-signature']);
});

async function countQuarantined(): Promise<number> {
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^events_quarantined_total (\d+)$/m.exec(metrics)?.[1]);
}

it('webhooks that are rejected or not understood are logged once a minute', async () => {
  const own: string[] = [];
  await using other = await openGateway({ onLog: (line) => own.push(line) });
  const unknown = { eventType: 'new', timeStamp: '2026-01-01T00:00:00Z', payload: {} };
  const bodies = ['not JSON', JSON.stringify(unknown), 'x'.repeat(300_000)];
  for (const body of [...bodies, ...bodies]) {
    const headers = { 'x-signature': macOf(Buffer.from(body), secret()) };
    await fetch(`${other.url}/webhooks`, { method: 'POST', body, headers });
  }
  expect(own.map((line) => JSON.parse(line).msg).filter((msg) => /webhook/.test(msg))).toEqual([
    'webhooks were rejected with status 400 (malformed)',
    'signed webhooks were not understood and are in quarantine',
    'webhooks were rejected with status 413 (size)',
  ]);
});

describe('a signed body that is not a delivery', () => {
  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['space', '    '],
    ['two', `${TEXT}\n${TEXT}`],
    ['null', 'null'],
    ['a list of one', `[${TEXT}]`],
    ['UTF-16', Buffer.from(TEXT, 'utf16le')],
    ['broken UTF-8', Buffer.concat([FULL.subarray(0, -2), Buffer.from([0xff]), FULL.subarray(-2)])],
    ['a prototype', `{"__proto__":${TEXT}}`],
    ['no type', ready({}, { eventType: undefined })],
    ['no payload', ready({}, { payload: undefined })],
    ...[null, [], '{}', 5].map((payload): [string, string] => [
      `the payload ${JSON.stringify(payload)}`,
      ready({}, { payload }),
    ]),
    ['a type that is a list', ready({}, { eventType: ['transcript_ready'] })],
    ['a type that is a number', ready({}, { eventType: 5 })],
    ['250,000 open brackets', '['.repeat(250_000)],
  ])('gets 400: %s', async (_, body) => {
    expect(await answerTo(body)).toEqual({ status: 400, text: '' });
  });
});

/** The number of events of the session in the log. */
async function eventCountOf(sessionId: string): Promise<number> {
  const query = 'query($id: ID!) { session(id: $id) { events { type } } }';
  return (await gateway.query(query, { id: sessionId })).data.session.events.length;
}

describe('an unusual delivery', () => {
  it.each<[string, () => string]>([
    ['a byte order mark', () => `\ufeff${ready()}`],
    ['a line break at its end', () => `${ready()}\n`],
    ['its type in escapes', () => ready().replace('ready', '\\u0072eady')],
    ['100,000 levels in an unknown field', () => nested(100_000)],
    [
      'a clinic given twice',
      () => ready().replace('"clinicId":', `"clinicId":"${uuid()}","clinicId":`),
    ],
    ['a time of leap', () => ready({}, { timeStamp: '2025-06-30T23:59:60Z' })],
    ['a time in a zone that is none', () => ready({}, { timeStamp: '2025-06-30T23:59:00+25:00' })],
    ['a time past all years', () => ready({}, { timeStamp: '+275760-09-13T00:00:00.000Z' })],
    ['an id in capitals', () => ready({ clientId: uuid().toUpperCase() })],
    ['half a character in its free text', () => ready().replace('visit-1', '\\ud800\\u0000')],
    ['200 kB of free text', () => ready({ sessionExternalId: 'x'.repeat(200_000) })],
  ])('is accepted, and can be read from the log: %s', async (_, make) => {
    const sessionId = uuid();
    const body = make().replace(/"sessionId":"[^"]*"/, `"sessionId":"${sessionId}"`);
    expect(await answerTo(body)).toEqual({ status: 200, text: '' });
    expect(await eventCountOf(sessionId)).toBe(1);
  });

  it.each(['9999-01-01T00:00:00Z', '', undefined])(
    'is accepted without a credible time, and counted: %j',
    async (timeStamp) => {
      const before = await gauge(gateway, 'events_without_time_total');
      expect((await answerTo(ready({}, { timeStamp }))).status).toBe(200);
      expect(await gauge(gateway, 'events_without_time_total')).toBe(before + 1);
    },
  );

  const ODD_IDS = ['{id}', 'urn:uuid:', ' ', '\n', 'ı', '１', '\u212a'];
  it.each<[string, () => string]>([
    [
      '100,000 levels in an unknown type',
      () => `{"eventType":"x","payload":{"a":${deep(100_000)}}}`,
    ],
    [
      '40,000 levels for a payload',
      () =>
        `{"eventType":"transcript_ready","payload":${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}}`,
    ],
    ['a type with space around it', () => ready({}, { eventType: ' transcript_ready ' })],
    ['a type of 200 kB', () => ready({}, { eventType: 'x'.repeat(200_000) })],
    ...['TRANSCRIPT_READY', '__proto__', 'constructor', ''].map((type): [string, () => string] => [
      `the type "${type}"`,
      () => ready({}, { eventType: type }),
    ]),
    [
      'a prototype for a payload',
      () => `{"eventType":"transcript_ready","payload":{"__proto__":{"sessionId":"${uuid()}"}}}`,
    ],
    [
      '1,200 scores',
      () => JSON.stringify(assessments(uuid(), Array.from({ length: 1_200 }, uuid))),
    ],
    [
      'scores that are only counted',
      () => JSON.stringify(assessments(uuid(), [], { assessmentScores: { length: 5 } })),
    ],
    ...[5, true, null, [uuid()], { id: uuid() }, '00000000-0000-0000-0000-000000000000'].map(
      (id): [string, () => string] => [
        `the id ${JSON.stringify(id)}`,
        () => ready({ sessionId: id }),
      ],
    ),
    ...ODD_IDS.map((odd): [string, () => string] => [
      `an id with ${JSON.stringify(odd)}`,
      () => ready({ sessionId: `${uuid().slice(0, -1)}${odd}` }),
    ]),
  ])('is quarantined, and delivered to no subscriber: %s', async (_, make) => {
    const before = (await gateway.query('{ eventCursor }')).data.eventCursor;
    const quarantined = await countQuarantined();
    expect(await answerTo(make())).toEqual({ status: 200, text: '' });
    expect((await gateway.query('{ eventCursor }')).data.eventCursor).toBe(before);
    expect(await countQuarantined()).toBe(quarantined + 1);
  });
});
