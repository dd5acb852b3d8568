import { shown, type Reader } from './reader.ts';
import type { Variable } from './variables.ts';

export type PartnerConfig =
  | { readonly kind: 'sandbox'; readonly pulseMs: number }
  | {
      readonly kind: 'real';
      /** Ends in `/v2`, without a slash after it. */
      readonly baseUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly apiKey: string;
    };

const CREDENTIALS = [
  'PARTNER_BASE_URL',
  'PARTNER_CLIENT_ID',
  'PARTNER_CLIENT_SECRET',
  'PARTNER_API_KEY',
] as const satisfies readonly Variable[];

export function readPartner(reader: Reader): PartnerConfig {
  const pulseMs = reader.integer('SANDBOX_PULSE_MS', { min: 0, max: 3_600_000 }, 8_000);
  const missing = CREDENTIALS.filter((name) => reader.text(name) === undefined);
  if (missing.length === CREDENTIALS.length) return { kind: 'sandbox', pulseMs };

  // All four or none. Half a set of credentials is a typing mistake, and falling back to the sandbox
  // then would show made-up patients to a real clinic.
  for (const name of missing)
    reader.refuse(`${name} must be set when another of ${CREDENTIALS.join(', ')} is, but is not`);

  return {
    kind: 'real',
    baseUrl: baseUrl(reader),
    clientId: reader.text('PARTNER_CLIENT_ID') ?? '',
    clientSecret: reader.secret('PARTNER_CLIENT_SECRET') ?? '',
    apiKey: apiKey(reader),
  };
}

function baseUrl(reader: Reader): string {
  const url = reader.url('PARTNER_BASE_URL', ['https:', 'http:']);
  if (!url) return '';
  if (url.username !== '' || url.password !== '')
    reader.refuse('PARTNER_BASE_URL must hold no credentials, but has a user name or password');
  if (url.search !== '' || url.hash !== '')
    reader.refuse('PARTNER_BASE_URL must end in /v2, but has a query or fragment');

  const path = url.pathname.replace(/\/$/, '');
  // Without the version segment every route answers 403 "Missing Authentication Token", which sends
  // people looking for a fault in their credentials.
  if (!path.endsWith('/v2')) {
    const ending = path.slice(path.lastIndexOf('/'));
    reader.refuse(`PARTNER_BASE_URL must end in /v2, but its path ends in ${shown(ending || '/')}`);
  }
  return `${url.origin}${path}`;
}

function apiKey(reader: Reader): string {
  const key = reader.secret('PARTNER_API_KEY') ?? '';
  if (!/^[\x20-\x7e]*$/.test(key))
    reader.refuse('PARTNER_API_KEY must be printable ASCII, as it is sent in a header, but is not');
  return key;
}
