import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { request } from 'undici';

/** Keys are asked for anew after ten minutes, so that a withdrawn one is gone soon. */
const FRESH_MS = 600_000;
/** While the issuer is down, the last keys stay good for this long. */
const KEPT_MS = 3_600_000;
/** Anyone can send a token with a made-up key id: that must not become a flood of requests to the issuer. */
const REFETCH_MS = 30_000;
/** Without any keys nobody can sign in, so the next try comes sooner. */
const RETRY_EMPTY_MS = 1_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;

export interface RemoteKeysOptions {
  /** Goes only forward. */
  readonly now: () => number;
  /** Told of a fetch that failed. Only the issuer is at fault then, and no token can say so. */
  readonly onFailure: () => void;
}

interface Keys {
  readonly find: JWTVerifyGetKey;
  readonly fetchedAt: number;
}

/** The issuer's published keys, as jose wants them: kept, renewed, and found again after a rotation. */
export function createRemoteKeys(
  url: string,
  { now, onFailure }: RemoteKeysOptions,
): JWTVerifyGetKey {
  let keys: Keys | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let underway: Promise<void> | undefined;

  const fetchKeys = async (): Promise<void> => {
    try {
      const set = await download(url);
      keys = { find: createLocalJWKSet(set), fetchedAt: now() };
    } catch {
      onFailure();
    } finally {
      underway = undefined;
    }
  };

  const refresh = (atMostEveryMs: number): Promise<void> => {
    if (underway) return underway;
    if (now() - triedAt < atMostEveryMs) return Promise.resolve();
    triedAt = now();
    underway = fetchKeys();
    return underway;
  };

  const current = () => (keys && now() - keys.fetchedAt < KEPT_MS ? keys : undefined);

  return async (header, token) => {
    if (!current()) await refresh(RETRY_EMPTY_MS);
    const known = current();
    if (!known) throw new errors.JWKSNoMatchingKey();
    if (now() - known.fetchedAt >= FRESH_MS) void refresh(REFETCH_MS);
    try {
      return await known.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh(REFETCH_MS);
      const renewed = current();
      if (!renewed || renewed === known) throw error;
      return renewed.find(header, token);
    }
  };
}

async function download(url: string): Promise<JSONWebKeySet> {
  // undici's request follows no redirect: keys come from where the operator said, or not at all.
  const { statusCode, body } = await request(url, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`keys must fit ${MAX_BYTES} bytes, but did not`);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`keys must come with status 200, but got ${statusCode}`);
  const set: unknown = JSON.parse(Buffer.concat(chunks).toString());
  if (!isKeySet(set)) throw new Error('keys must come as a JSON Web Key Set, but did not');
  return set;
}

// jose looks at each key itself, when a token asks for it.
function isKeySet(value: unknown): value is JSONWebKeySet {
  return (
    typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)
  );
}
