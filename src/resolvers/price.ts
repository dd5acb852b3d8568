import type { GrantedKind } from '../viewer/viewer.ts';

/**
 * What a field may cost in upstream calls: said where the field is promised, read when an operation's price is
 * computed. Searches for lazily known records are not in it: they count as they happen.
 */
export type Price =
  /** A connection: the pages of its window, and its subselection once for each row. */
  | { readonly kind: 'list' }
  /** One call of its own. */
  | { readonly kind: 'call' }
  /** A call for each item of an argument, and the subselection as often. */
  | { readonly kind: 'each'; readonly argument: string }
  /** The subselection, for each record that the viewer's grants name. */
  | { readonly kind: 'granted'; readonly of: GrantedKind }
  /** The subselection, for as many events as the argument says, or as a session usually has at most. */
  | { readonly kind: 'events'; readonly argument?: string; readonly usual: number };

/** As a field's `extensions`. */
type Priced = { readonly price: Price };

export const listPrice: Priced = { price: { kind: 'list' } };
export const oneCall: Priced = { price: { kind: 'call' } };
export const callForEach = (argument: string): Priced => ({ price: { kind: 'each', argument } });
export const forGranted = (of: GrantedKind): Priced => ({ price: { kind: 'granted', of } });
export const forEvents = (usual: number, argument?: string): Priced => ({
  price: { kind: 'events', usual, ...(argument && { argument }) },
});

export function priceOf(extensions: object): Price | undefined {
  return 'price' in extensions ? (extensions as Priced).price : undefined;
}
