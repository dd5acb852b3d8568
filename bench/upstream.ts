import { createServer } from 'node:http';

import { bodyOf } from './world.ts';

/**
 * The Partner API as a benchmark wants it: a body for every path, at once or after a set time, and a count of the
 * calls. `/control/…` is for the run, and not counted.
 */
let calls = 0;
let delayMs = 0;

const TOKEN = JSON.stringify({ accessToken: 'bench', expiresIn: 3600, tokenType: 'Bearer' });
const PREFIX = '/v2';

const server = createServer((req, res) => {
  const url = req.url ?? '';
  const send = (status: number, body: string): void => {
    const length = Buffer.byteLength(body);
    res.writeHead(status, { 'content-type': 'application/json', 'content-length': length });
    res.end(body);
  };

  if (url.startsWith('/control/')) return send(200, control(url));
  if (req.method === 'POST') {
    req.resume();
    return void req.on('end', () => send(200, TOKEN));
  }
  calls += 1;
  const body = bodyOf(url.slice(PREFIX.length));
  const answer = (): void =>
    body === undefined ? send(403, '{"message":"Missing Authentication Token"}') : send(200, body);
  if (delayMs === 0) answer();
  else setTimeout(answer, delayMs);
});

function control(url: string): string {
  const wanted = /^\/control\/delay\/(\d+)$/.exec(url)?.[1];
  if (wanted !== undefined) delayMs = Number(wanted);
  return String(calls);
}

// Connections must outlive the waits between rounds, or a cold row would time their making.
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env['PORT']), '127.0.0.1');
