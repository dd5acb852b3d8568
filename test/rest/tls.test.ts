import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createPartner } from '../../src/rest/partner.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** Self-signed for this run, and for another host. */
function certificate(): { key: Buffer; cert: Buffer } {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const options = [
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=other.example',
  ];
  execFileSync('openssl', ['req', ...options, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const made = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(dir, { recursive: true });
  return made;
}

describe.skipIf(!hasOpenssl)('a Partner API with an untrusted certificate', () => {
  let server: Server;
  let received = 0;
  beforeAll(async () => {
    server = createServer(certificate(), (_req, res) => {
      received += 1;
      res.end('{"accessToken":"token","expiresIn":3600}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  it('gets no credentials, and no byte of a request', async () => {
    const { port } = server.address() as AddressInfo;
    const secrets = { clientId: 'id', clientSecret: 'secret', apiKey: 'key' };
    await using partner = createPartner({ baseUrl: `https://127.0.0.1:${port}/v2`, ...secrets });
    await expect(partner.check()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(received).toBe(0);
  });
});
