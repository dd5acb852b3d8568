import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { TARGETS, type TargetName } from './targets.ts';

export const ROWS = ['hot', 'executed', 'uncached', 'cold', 'S1', 'S2', 'K', 'start'] as const;
export type RowName = (typeof ROWS)[number];

export interface Options {
  readonly quick: boolean;
  readonly only: readonly RowName[];
  readonly targets: readonly TargetName[];
  readonly json: string | undefined;
  readonly profile: string | undefined;
}

export const USAGE = `Usage: npm run bench -- [--quick] [--only ${ROWS.join(',')}] [--target ${TARGETS.join(',')}] [--json file] [--profile directory]`;

/** The raw limits are always there: without them there is no ratio. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      target: { type: 'string' },
      json: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  return {
    quick: values.quick,
    only: chosen('--only', values.only, ROWS),
    targets: [
      ...new Set([...chosen('--target', values.target, TARGETS), 'raw', 'request'] as const),
    ],
    json: values.json,
    profile: values.profile && resolve(values.profile),
  };
}

function chosen<T extends string>(
  option: string,
  given: string | undefined,
  known: readonly T[],
): readonly T[] {
  if (given === undefined) return known;
  const names = given.split(',');
  const wrong = names.filter((name) => !known.some((each) => each === name));
  if (wrong.length > 0)
    throw new Error(`${option} must be of ${known.join(', ')}, but got ${wrong.join(', ')}`);
  return known.filter((each) => names.includes(each));
}
