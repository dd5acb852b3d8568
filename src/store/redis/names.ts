/** One hash tag for all keys: a script may touch any of them. */
export const PREFIX = '{partner-graph}:';

export const names = {
  epoch: `${PREFIX}epoch`,
  newest: `${PREFIX}newest`,
  events: `${PREFIX}events`,
  quarantine: `${PREFIX}quarantine`,
  transaction: `${PREFIX}transaction`,
  repaired: `${PREFIX}repaired`,
  ofSubject: (subject: string) => `${PREFIX}subject:${subject}`,
  value: (key: string) => `${PREFIX}fact:${key}`,
  bus: (database: string) => `${PREFIX}bus:${database}`,
  appended: (database: string) => `${PREFIX}appended:${database}`,
};
