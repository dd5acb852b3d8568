import { createHash } from 'node:crypto';
import { codeOf } from './failure.ts';

export interface Script {
  readonly source: string;
  readonly sha: string;
}

export const script = (source: string): Script => ({
  source,
  sha: createHash('sha1').update(source).digest('hex'),
});

type Send = <Reply>(args: readonly string[]) => Promise<Reply>;

/** By its hash; with its source where the server does not know it (yet, or any more). */
export async function runScript<Reply>(
  send: Send,
  { sha, source }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  const rest = [String(keys.length), ...keys, ...args.map(String)];
  try {
    return await send<Reply>(['EVALSHA', sha, ...rest]);
  } catch (error) {
    if (codeOf(error instanceof Error ? error.cause : error) !== 'NOSCRIPT') throw error;
    return send<Reply>(['EVAL', source, ...rest]);
  }
}
