import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { createAuthenticator } from '../../src/viewer/authenticate.ts';

const SECRET = 'a secret of more than thirty-two bytes';
const script = new URL('../../scripts/token.ts', import.meta.url).pathname;

function token(args: string[], env: Record<string, string>) {
  return new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [script, ...args],
      { env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env } },
      (_, stdout, stderr) => resolve({ stdout: stdout.trim(), stderr }),
    );
  });
}

it('prints a token that the gateway accepts', async () => {
  const claims = { AUTH_ISSUER: 'issuer', AUTH_AUDIENCE: 'gateway' };
  const { stdout } = await token(['--grant', 'partner', '--subject', 'anna', '--minutes', '5'], {
    AUTH_JWT_SECRET: SECRET,
    ...claims,
  });
  const auth = { kind: 'secret', secret: SECRET, issuer: 'issuer', audience: 'gateway' } as const;
  const viewer = await createAuthenticator(auth)(`Bearer ${stdout}`);
  expect(viewer).toMatchObject({ subject: 'anna', reach: { key: 'partner' } });
  expect(viewer.expiresAt).toBeLessThanOrEqual(Date.now() + 300_000);
});

it.each([
  [[], {}, '--grant must be given at least once'],
  [['--grant', 'clinic:x'], {}, 'but got "clinic:x"'],
  [['--grant', 'partner', '--minutes', '0'], {}, '--minutes must be a whole number from 1'],
  [['--grant', 'partner', '--subject='], {}, '--subject must not be empty'],
  [['--help'], {}, "Unknown option '--help'\nUsage: npm run token -- --grant"],
  [['--grant', 'partner'], {}, 'AUTH_JWT_SECRET must be set to sign with, but is not'],
  [['--grant', 'partner'], { AUTH_JWT_SECRET: 'short' }, 'must have at least 32 bytes'],
  [
    ['--grant', 'partner'],
    { AUTH_JWKS_URL: 'https://id.example/k', AUTH_AUDIENCE: 'x' },
    'ask its issuer',
  ],
])('says what is missing: %j %j', async (args, env, message) => {
  const { stdout, stderr } = await token(args, env);
  expect(stdout).toBe('');
  expect(stderr).toContain(message);
});
