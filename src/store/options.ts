export type StoreOptions =
  | { readonly kind: 'embedded'; readonly dir: string }
  | { readonly kind: 'redis'; readonly url: string };

export interface StoreSettings {
  /** How long events are kept. */
  readonly retentionMs: number;
  readonly clock?: () => number;
  /** Told in one line, without secrets, what an operator should look at. */
  readonly onProblem?: (message: string) => void;
  /** It can't be used any more in this process; a new one may find it mended. */
  readonly onBroken?: () => void;
}
