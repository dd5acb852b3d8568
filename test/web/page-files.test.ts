import { globSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';

const folder = new URL('../../web/', import.meta.url).pathname;
const assets = globSync('**/*.*', { cwd: folder }).filter((name) => !name.endsWith('index.html'));
const paths = ['/', ...assets.map((name) => `/assets/${name}`)];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());

/** Sends the path unchanged: `fetch` would normalise it first. */
function statusOf(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (res) => resolve(res.resume().statusCode))
      .on('error', reject)
      .end();
  });
}

describe('the files of the pages', () => {
  it.each(paths)('serves %s with its type, a policy and an ETag', async (path) => {
    const response = await fetch(`${gateway.url}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(
      /^(text\/(html|css|javascript); charset=utf-8|image\/svg\+xml)$/,
    );
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
    expect(response.headers.get('etag')).toMatch(/^W\/"/);
    expect((await response.text()).length).toBeGreaterThan(100);
  });

  it('answers 304 for a file that the browser has cached', async () => {
    const first = await fetch(`${gateway.url}/assets/main.js`);
    await first.text();
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    const second = await fetch(`${gateway.url}/assets/main.js`, { headers });
    expect([second.status, await second.text()]).toEqual([304, '']);
  });

  it('compresses for clients that accept it, and sends the Content-Length', async () => {
    const url = `${gateway.url}/assets/graphiql/graphiql.js`;
    const zipped = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } });
    const plain = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'gzip;q=0' } });
    const preferred = { 'accept-encoding': 'br;q=1.0, gzip;q=0.8' };
    const second = await fetch(url, { method: 'HEAD', headers: preferred });
    for (const { headers } of [zipped, second])
      expect(headers.get('content-encoding')).toBe('gzip');
    expect(Number(zipped.headers.get('content-length'))).toBeLessThan(2_000_000);
    expect(Number(plain.headers.get('content-length'))).toBeGreaterThan(4_000_000);
  });

  it.each([
    '/assets/',
    '/assets/../server.ts',
    '/assets/%2e%2e/server.ts',
    '/assets/..%2fserver.ts',
    '/assets//main.js',
    '/assets/live-notes/main.js',
    '/assets/__proto__',
  ])('answers 404 for %s', async (path) => {
    expect(await statusOf(path)).toBe(404);
  });

  it('sets text as text, and has no inline script', () => {
    const source = (name: string) => readFileSync(`${folder}${name}`, 'utf8');
    const scripts = globSync('**/*.js', { cwd: folder });
    const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;
    expect(scripts.filter((name) => markup.test(source(name)))).toEqual([]);
    for (const page of ['index.html', 'graphiql/index.html'])
      expect(source(page)).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  });

  it('keeps every file under 200 lines', () => {
    const long = globSync('**/*.*', { cwd: folder }).filter(
      (name) => readFileSync(`${folder}${name}`, 'utf8').split('\n').length > 200,
    );
    expect(long).toEqual([]);
  });
});

it('serves the schema as text', async () => {
  const response = await fetch(`${gateway.url}/schema.graphql`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const file = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
  expect(await response.text()).toBe(file);
});

describe('with GRAPHIQL off', () => {
  it('serves no page and none of its files', async () => {
    await using closed = await openGateway({ env: { GRAPHIQL: 'off' } });
    const headers = { accept: 'text/html' };
    for (const path of [
      '/',
      '/graphql',
      '/schema.graphql',
      '/assets/main.js',
      '/assets/graphiql/graphiql.js',
    ]) {
      const response = await fetch(`${closed.url}${path}`, { headers });
      expect([path, response.status]).toEqual([path, path === '/graphql' ? 405 : 404]);
      expect(response.headers.get('content-type')).toMatch(/json/);
    }
  });
});
