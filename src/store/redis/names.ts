/** One hash tag for all keys: a script may touch any of them, in a cluster too. */
export const PREFIX = '{partner-graph}:';

export const names = {
  epoch: `${PREFIX}epoch`,
  newest: `${PREFIX}newest`,
  events: `${PREFIX}events`,
  quarantine: `${PREFIX}quarantine`,
  checked: `${PREFIX}checked`,
  mending: `${PREFIX}mending`,
  mended: `${PREFIX}mended`,
  ofSubject: (subject: string) => `${PREFIX}subject:${subject}`,
  fact: (key: string) => `${PREFIX}fact:${key}`,
  children: (parent: string, kind: string) => `${PREFIX}children:${kind}:${parent}`,
  bus: (database: string) => `${PREFIX}bus:${database}`,
};
