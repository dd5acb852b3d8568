import { openSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox/sandbox.ts';

import type { AnyBody } from './bodies.ts';

export interface Answer {
  readonly status: number;
  readonly body: AnyBody;
}

export interface Ask {
  readonly method?: string;
  readonly body?: unknown;
  readonly rawBody?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Caller {
  readonly sandbox: Sandbox;
  /** With both headers, unless `headers` says otherwise (an empty string omits one). */
  readonly ask: (path: string, how?: Ask) => Promise<Answer>;
  readonly token: string;
}

const AN_HOUR_MS = 3_600_000;

const DETERMINISTIC = {
  pulseMs: 0,
  duplicateRate: 0,
  reorderRate: 0,
  transcriptMs: AN_HOUR_MS,
  noteMs: AN_HOUR_MS,
  mdmMs: AN_HOUR_MS,
  rewriteMs: AN_HOUR_MS,
  finalizeMs: AN_HOUR_MS,
} as const;

/** Nothing happens by itself, nothing is sent twice or held back, and generation waits for `settle()`. */
export async function openQuietSandbox(options: SandboxOptions = {}): Promise<Caller> {
  const sandbox = await openSandbox({
    ...options,
    switches: { ...DETERMINISTIC, ...options.switches },
  });
  const { baseUrl, apiKey, clientId, clientSecret } = sandbox.connection;

  async function ask(path: string, how: Ask = {}): Promise<Answer> {
    const headers = { 'access-token': token, 'x-api-key': apiKey, ...how.headers };
    const response = await fetch(baseUrl + path, {
      method: how.method ?? 'GET',
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')),
      ...(how.body !== undefined && { body: JSON.stringify(how.body) }),
      ...(how.rawBody !== undefined && { body: how.rawBody }),
    });
    const body: AnyBody = JSON.parse(await response.text());
    return { status: response.status, body };
  }

  let token = '';
  const granted = await ask('/partners/authenticate', {
    method: 'POST',
    body: { clientId, clientSecret },
  });
  token = granted.body.accessToken;
  return { sandbox, ask, token };
}
