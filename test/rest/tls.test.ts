import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { PartnerError } from '../../src/rest/errors.ts';
import { createPartner } from '../../src/rest/partner.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(!hasOpenssl)('the certificate of the Partner API', () => {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-tls-'));
  const trusted = getCACertificates();
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
  beforeAll(() => {
    const subject = ['-subj', '/CN=authority', '-days', '1'];
    const files = ['-keyout', 'key.pem', '-out', 'authority.pem'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl('req', '-x509', ...key, ...subject, ...files);
    setDefaultCACertificates([...trusted, readFileSync(join(dir, 'authority.pem'), 'utf8')]);
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    rmSync(dir, { recursive: true });
  });

  /** Signed by the authority above, or else by itself. */
  function certificate(name: string, days: number, isSigned: boolean) {
    const subject = ['-subj', '/CN=server', '-addext', `subjectAltName=${name}`];
    openssl('req', '-new', '-key', 'key.pem', ...subject, '-out', 'request.pem');
    const signer = isSigned
      ? ['-CA', 'authority.pem', '-CAkey', 'key.pem']
      : ['-signkey', 'key.pem'];
    const files = ['-in', 'request.pem', '-out', 'cert.pem', '-copy_extensions', 'copy'];
    openssl('x509', '-req', ...files, '-days', String(days), ...signer);
    return { key: readFileSync(join(dir, 'key.pem')), cert: readFileSync(join(dir, 'cert.pem')) };
  }

  async function check(name: string, days: number, isSigned: boolean) {
    let received = 0;
    const server = createServer(certificate(name, days, isSigned), (_req, res) => {
      received += 1;
      res.end('{"accessToken":"token","expiresIn":3600}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const secrets = { clientId: 'id', clientSecret: 'secret', apiKey: 'key' };
    await using partner = createPartner({ baseUrl: `https://127.0.0.1:${port}/v2`, ...secrets });
    const outcome = await partner.check().then(
      () => 'ok',
      (error: PartnerError) => error.what,
    );
    server.close();
    return { outcome, received };
  }

  it('is accepted if it is valid', async () => {
    expect(await check('IP:127.0.0.1', 1, true)).toEqual({ outcome: 'ok', received: 1 });
  });

  it.each([
    ['expired', 'IP:127.0.0.1', -1, true, 'CERT_HAS_EXPIRED'],
    ['of another host', 'DNS:other.example', 1, true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['self-signed', 'IP:127.0.0.1', 1, false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const)('gets no byte of a request if it is %s', async (_, name, days, isSigned, code) => {
    const refused = { outcome: `no connection could be made (${code})`, received: 0 };
    expect(await check(name, days, isSigned)).toEqual(refused);
  });
});
