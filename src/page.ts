/** The Partner API ignores any page-size parameter: every page but the last holds exactly ten rows. */
export const PAGE_SIZE = 10;

export interface Page<T> {
  /** `undefined` is a row without a usable id. It keeps its offset, so that the others' offsets stay right. */
  readonly rows: readonly (T | undefined)[];
  readonly total: number;
  readonly page: number;
}
