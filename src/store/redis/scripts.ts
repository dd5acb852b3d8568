import type { Run } from './connection.ts';

/** One hash tag for all keys: a script may touch any of them, in a cluster too. */
export const PREFIX = '{partner-graph}:';

export const names = {
  epoch: `${PREFIX}epoch`,
  newest: `${PREFIX}newest`,
  events: `${PREFIX}events`,
  quarantine: `${PREFIX}quarantine`,
  transaction: `${PREFIX}transaction`,
  repaired: `${PREFIX}repaired`,
  ofSubject: (subject: string) => `${PREFIX}subject:${subject}`,
  fact: (key: string) => `${PREFIX}fact:${key}`,
  bus: (database: string) => `${PREFIX}bus:${database}`,
};

/** EVAL and not EVALSHA: a restarted server has no cached scripts, and no command is sent twice here. */
export const runScript = <Reply>(
  run: Run,
  source: string,
  keys: string[],
  args: readonly (string | number)[],
): Promise<Reply> =>
  run((redis) => redis.eval(source, { keys, arguments: args.map(String) }) as Promise<Reply>);
