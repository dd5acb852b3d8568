/** What the lineage has said, as it is held here. */
export interface Answer<T = unknown> {
  readonly value: T;
  /** On the clock of `performance.now()`, unless another was passed in. */
  readonly expiresAt: number;
  /** Turns false when it is no longer right. */
  readonly valid: boolean;
}
