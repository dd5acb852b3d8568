import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { SignJWT, exportJWK, generateKeyPair } from 'jose';

/** An issuer of tokens that counts how often its keys are fetched, and can be down. */
export async function openIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }];
  let fetches = 0;
  let isDown = false;
  let held = Promise.resolve();
  const server = createServer((_req, res) => {
    fetches += 1;
    void held.then(() =>
      res.writeHead(isDown ? 500 : 200, { connection: 'close' }).end(JSON.stringify({ keys })),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** For a gateway that accepts this issuer's tokens. */
    env: {
      AUTH_JWT_SECRET: '',
      AUTH_JWKS_URL: `http://127.0.0.1:${port}/keys`,
      AUTH_AUDIENCE: 'gateway',
    },
    fetches: () => fetches,
    /** Answers only after this. */
    holdUntil: (released: Promise<void>) => void (held = released),
    setDown: (down: boolean) => void (isDown = down),
    token: (subject: string) =>
      new SignJWT({ grants: ['partner'] })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setSubject(subject)
        .setAudience('gateway')
        .setExpirationTime('1h')
        .sign(privateKey),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  };
}
