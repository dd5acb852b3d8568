import { hashOfList, type CursorCodec, type CursorPosition } from './cursor.ts';

export interface WindowArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** Validated arguments with decoded cursors. */
export interface WindowRequest {
  readonly from: 'first' | 'last';
  readonly count: number;
  readonly after?: CursorPosition;
  readonly before?: CursorPosition;
}

/** The arguments of a connection are invalid. Nothing was read, and a retry would fail again. */
export class BadWindow extends Error {
  readonly code = 'BAD_USER_INPUT';
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(issues.join('; '));
    this.name = 'BadWindow';
    this.issues = issues;
  }
}

export const MOST_ROWS = 100;
export const DEFAULT_ROWS = 10;

/** Throws `BadWindow` with every problem. Without a `key`, a cursor of any list is accepted. */
export function readWindowArgs(args: WindowArgs, codec: CursorCodec, key?: string): WindowRequest {
  const issues = countIssues(args);

  const decoded = (name: 'after' | 'before') => {
    const text = args[name] ?? undefined;
    if (text === undefined) return undefined;
    const position = codec.decode(text);
    if (position && (key === undefined || position.list === hashOfList(key))) return position;
    issues.push(`"${name}" is not a cursor of this list`);
    return undefined;
  };
  const after = decoded('after');
  const before = decoded('before');

  if (issues.length > 0) throw new BadWindow(issues);
  return { ...sizeOf(args), ...(after && { after }), ...(before && { before }) };
}

/** The number of rows, and the end of the range between the cursors from which they are counted. */
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
