import { parseArgs } from 'node:util';
import { SignJWT } from 'jose';
import { ConfigError, readConfig } from '../src/config.ts';
import { parseGrant } from '../src/viewer/viewer.ts';

const USAGE =
  'Usage: npm run token -- --grant clinician:<uuid> [--grant …] [--subject name] [--minutes 60]';

/** A token for testing, signed with AUTH_JWT_SECRET and with the issuer and audience that the gateway expects. */
async function token(args: string[]): Promise<string> {
  const { grant, subject, minutes } = readArguments(args);
  const { auth } = readConfig({ ...process.env, HOST: undefined, SANDBOX: 'on' });
  if (auth.kind !== 'secret')
    throw new ConfigError(
      auth.kind === 'jwks'
        ? 'AUTH_JWT_SECRET must be set to sign with, but AUTH_JWKS_URL is: ask its issuer for a token'
        : 'AUTH_JWT_SECRET must be set to sign with, but is not',
    );
  const jwt = new SignJWT({ grants: grant })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1_000) + minutes * 60);
  if (auth.issuer !== undefined) jwt.setIssuer(auth.issuer);
  if (auth.audience !== undefined) jwt.setAudience(auth.audience);
  return jwt.sign(Buffer.from(auth.secret));
}

function readArguments(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      grant: { type: 'string', multiple: true, default: [] },
      subject: { type: 'string', default: 'developer' },
      minutes: { type: 'string', default: '60' },
    },
  });
  if (values.grant.length === 0)
    throw new Error('--grant must be given at least once, but was not');
  for (const text of values.grant)
    if (!parseGrant(text))
      throw new Error(
        `--grant must be "partner", or organization, clinic, clinician, client or session with ":" and a UUID, but got ${JSON.stringify(text)}`,
      );
  if (!values.subject) throw new Error('--subject must not be empty, but is');
  const minutes = Number(values.minutes);
  if (!Number.isInteger(minutes) || minutes < 1)
    throw new Error(
      `--minutes must be a whole number from 1, but got ${JSON.stringify(values.minutes)}`,
    );
  return { ...values, minutes };
}

try {
  console.log(await token(process.argv.slice(2)));
} catch (error) {
  const { message } = Object(error);
  console.error(error instanceof ConfigError ? message : `${message}\n${USAGE}`);
  process.exitCode = 1;
}
