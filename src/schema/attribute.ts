import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import { recordOf } from '../resolvers/lookup/by-id.ts';
import type { ListedRef } from '../resolvers/refs.ts';

type RecordOf<R extends ListedRef> = NonNullable<R['record']>;

/** A field of a record that may be known by id alone: asking for it sets off the search. */
export function attribute<R extends ListedRef, K extends keyof RecordOf<R>>(name: K) {
  return (ref: R, _args: unknown, ctx: Context): Loaded<RecordOf<R>[K] | null> =>
    ref.record && ref.open
      ? (ref.record as RecordOf<R>)[name]
      : whenLoaded(recordOf(ref, ctx), (record) => (record ? (record as RecordOf<R>)[name] : null));
}
