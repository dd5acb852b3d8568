import { expect } from 'vitest';

import type { Gateway, GraphQLAnswer } from '../gateway.ts';

export interface Counted extends GraphQLAnswer {
  /** The calls to the sandbox, without those for tokens. */
  readonly calls: number;
}

/** The calls to the sandbox, without those for the partner token. */
export const callsTo = ({ sandbox }: Pick<Gateway, 'sandbox'>): number =>
  sandbox.countOf() - sandbox.countOf('POST /partners/authenticate');

/** Runs a query, and compares the gateway's own count with the calls of the sandbox. For one operation at a time. */
export async function counted(
  gateway: Gateway,
  document: string,
  variables: object = {},
): Promise<Counted> {
  const before = callsTo(gateway);
  const answer = await gateway.query(document, variables);
  const calls = callsTo(gateway) - before;
  if (answer.extensions) expect(answer.extensions.upstream.calls).toBe(calls);
  return { ...answer, calls };
}

/** The codes of an answer's errors, each with its path. */
export const failures = ({ errors = [] }: GraphQLAnswer) =>
  errors.map(({ path, extensions }) => `${path?.join('.') ?? ''}: ${extensions.code}`);
