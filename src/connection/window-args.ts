import { hashOfList, type CursorCodec, type Place } from './cursor.ts';
import { BadWindow } from './errors.ts';

export interface WindowArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** Arguments that make sense, their cursors read. */
export interface WindowRequest {
  readonly from: 'first' | 'last';
  readonly count: number;
  readonly after?: Place;
  readonly before?: Place;
}

export const MOST_ROWS = 100;
export const DEFAULT_ROWS = 10;

/** Throws `BadWindow`, with every problem in it. Without a `key`, cursors of any list will do. */
export function readWindowArgs(args: WindowArgs, codec: CursorCodec, key?: string): WindowRequest {
  const issues = countIssues(args);

  const placeOf = (name: 'after' | 'before') => {
    const text = args[name] ?? undefined;
    if (text === undefined) return undefined;
    const place = codec.decode(text);
    if (place && (key === undefined || place.list === hashOfList(key))) return place;
    issues.push(`"${name}" is not a cursor of this list`);
    return undefined;
  };
  const after = placeOf('after');
  const before = placeOf('before');

  if (issues.length > 0) throw new BadWindow(issues);
  return { ...sizeOf(args), ...(after && { after }), ...(before && { before }) };
}

/** Which end of what lies between the cursors is wanted, and how much of it. */
export function sizeOf({ first, last }: WindowArgs): Pick<WindowRequest, 'from' | 'count'> {
  return typeof last === 'number'
    ? { from: 'last', count: last }
    : { from: 'first', count: first ?? DEFAULT_ROWS };
}

export function countIssues(args: WindowArgs): string[] {
  const issues = (['first', 'last'] as const)
    .map((name) => [name, args[name] ?? DEFAULT_ROWS] as const)
    .filter(([, count]) => !(Number.isInteger(count) && count >= 1 && count <= MOST_ROWS))
    .map(([name, count]) => `"${name}" must be between 1 and ${MOST_ROWS}, but got ${count}`);
  if (typeof args.first === 'number' && typeof args.last === 'number') {
    issues.push('"first" and "last" exclude each other, but got both');
  }
  return issues;
}
