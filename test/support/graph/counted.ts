import { expect } from 'vitest';

import type { Gateway, GraphQLAnswer } from '../gateway.ts';

export interface Counted extends GraphQLAnswer {
  /** What the sandbox was asked for it, tokens aside. */
  readonly calls: number;
}

/** Calls that the sandbox has seen, the partner's own token aside. */
export const callsTo = ({ sandbox }: Pick<Gateway, 'sandbox'>): number =>
  sandbox.countOf() - sandbox.countOf('POST /partners/authenticate');

/** Asks, and holds the gateway's own count against what the Partner API saw. For one operation at a time. */
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
