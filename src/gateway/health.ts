import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

type Check = () => Promise<void>;

export interface HealthParts {
  readonly checks: Readonly<Record<string, Check>>;
  /** False once the process is on its way out. */
  readonly isServing: () => boolean;
  readonly metricsText: () => Promise<string>;
  readonly metricsType: string;
  /** Undefined: metrics are for loopback only. */
  readonly metricsToken: string | undefined;
}

/** For whoever runs it: is it alive, should it get traffic, what is it doing. */
export function createHealth(parts: HealthParts) {
  const readiness = async (_req: IncomingMessage, res: ServerResponse): Promise<void> => {
    // At once: whoever is to send no more must not wait for a Partner API that hangs.
    if (!parts.isServing()) return json(res, 503, { ready: false, serving: false, checks: {} });
    const names = Object.keys(parts.checks);
    const reasons = await Promise.all(names.map((name) => reasonOf(parts.checks[name]!)));
    const checks = Object.fromEntries(names.map((name, i) => [name, reasons[i] ?? 'ok']));
    const ready = parts.isServing() && reasons.every((reason) => reason === undefined);
    json(res, ready ? 200 : 503, { ready, serving: parts.isServing(), checks });
  };

  const metrics = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (!mayRead(req, parts.metricsToken)) return json(res, 401, { error: 'unauthorized' });
    const text = await parts.metricsText();
    res.writeHead(200, { 'content-type': parts.metricsType }).end(text);
  };

  return { alive, ready: readiness, metrics };
}

const alive = (_req: IncomingMessage, res: ServerResponse): void => json(res, 200, { ok: true });

/** Our own errors say in words what to do; of any other there is nothing to tell but that it failed. */
async function reasonOf(check: Check): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.message : 'failed';
  }
}

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

function mayRead(req: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return LOOPBACK.has(req.socket.remoteAddress ?? '');
  const given = Buffer.from(req.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function json(res: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  res.end(text);
}
