import type { Context } from '../../context.ts';
import { type Bundle, bundleOf } from '../../observability/request-lines.ts';
import type { Row } from '../../resolvers/list.ts';
import type { CacheEntry } from '../../rest/cache.ts';
import { recordNameOf } from '../../resolvers/shown.ts';
import { type Held, createShortMemory } from '../short-memory.ts';
import type { Text } from './place.ts';
import type { ObjectPlan } from './plan.ts';

const MOST_BYTES = 32 * 1024 * 1024;
const OVERHEAD_BYTES = 512;
/** A row that nothing was read for would hold for ever, and its page with it. */
const MOST_MS = 10_000;

interface RememberedRow extends Held {
  readonly plan: ObjectPlan;
  readonly reach: string;
  readonly text: string;
  readonly answers: readonly CacheEntry[];
  readonly seen: Bundle;
}

export type RememberedRows = ReturnType<typeof createRememberedRows>;

/**
 * Rows of lists, with all that hangs below them, as text: for exactly as long as every answer of the Partner API that
 * is in it is valid, and for viewers of the same reach. What a query asks for is seldom new, even where the query is.
 */
export function createRememberedRows(now: () => number) {
  const remembered = createShortMemory<Row, RememberedRow>({
    mostBytes: MOST_BYTES,
    bytesOf: ({ text, answers, seen }) =>
      2 * text.length + 64 * (answers.length + seen.names.length) + OVERHEAD_BYTES,
    now,
  });

  function find(row: Row, plan: ObjectPlan, ctx: Context): string | undefined {
    const known = remembered.get(row);
    if (known?.plan !== plan || known.reach !== ctx.reach.text) return undefined;
    ctx.usage.repeated.push(known.answers);
    ctx.usage.cached += known.answers.length;
    ctx.audit?.sawAll(known.seen);
    return known.text;
  }

  return {
    /** The row as text, remembered or made. */
    textOf(row: Row, plan: ObjectPlan, ctx: Context, { make, isCommon }: Making) {
      const known = find(row, plan, ctx);
      if (known !== undefined) return known;
      // Kept from the second time on: most rows are shown once, and documents that take turns would only replace each other.
      if (row.shownAs !== plan) {
        row.shownAs = plan;
        return make();
      }
      const { made, answers, seen, isOfRest } = ctx.recorded(make);
      if (typeof made !== 'string' || !isOfRest || !isCommon()) return made;
      const used = [...answers];
      const { partner } = ctx;
      const ownName = recordNameOf(row);
      remembered.set(row, {
        plan,
        reach: ctx.reach.text,
        text: flat(made),
        answers: used,
        isValid: () => used.every(partner.isCurrent),
        // Whoever lists a row says that it is shown.
        seen: bundleOf([...seen].filter((name) => name !== ownName)),
        expiresAt: used.reduce((at, { expiresAt }) => Math.min(at, expiresAt), now() + MOST_MS),
      });
      return made;
    },
  };
}

interface Making {
  make(): Text;
  /** Whether what was made is right, and not only for the variables of this operation. */
  isCommon(): boolean;
}

/** In one piece: what was put together piece by piece would be walked through anew each time it is sent. */
const flat = (text: string): string => Buffer.from(text).toString();
