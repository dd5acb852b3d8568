import type { Ids } from './ids.ts';
import { SESSIONS_PER_CLIENT_LIMIT } from './layout.ts';
import type { Scores } from './scores.ts';

/** The ids of the seed by position, so that a test need not walk the lists to find one. Counted from 0. */
export interface SandboxIds {
  readonly organization: (nth: number) => string;
  readonly clinic: (nth: number) => string;
  readonly program: (nth: number) => string;
  /** 0 to 13 are the first clinic's; 13 has no clients. */
  readonly clinician: (nth: number) => string;
  /** 0 to 419 are the first clinic's; 0 to 24 have ten sessions or more, 25 to 29 have 0, 9, 10, 11, 25. */
  readonly client: (nth: number) => string;
  /** The nth session of a client, newest first. The notes of 0, 1 and 2 are open, older ones finalized. */
  readonly session: (client: number, nth: number) => string;
  readonly note: (client: number, nth: number) => string;
  readonly scores: (client: number) => readonly string[];
}

const keyOf = (client: number, nth: number) => client * SESSIONS_PER_CLIENT_LIMIT + nth;

export function createSandboxIds(ids: Ids, scores: Scores): SandboxIds {
  return {
    organization: (nth) => ids.idOf('organization', nth),
    clinic: (nth) => ids.idOf('clinic', nth),
    program: (nth) => ids.idOf('program', nth),
    clinician: (nth) => ids.idOf('clinician', nth),
    client: (nth) => ids.idOf('client', nth),
    session: (client, nth) => ids.idOf('session', keyOf(client, nth)),
    note: (client, nth) => ids.idOf('note', keyOf(client, nth)),
    scores: scores.seededOf,
  };
}
