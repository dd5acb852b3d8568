/** The API ignores any page-size parameter: every page but the last holds exactly ten. */
export const PAGE_SIZE = 10;

export interface Page<T> {
  /** `undefined` is a row without a usable id: it keeps its place, so that offsets stay right, but gets no edge. */
  readonly rows: readonly (T | undefined)[];
  readonly total: number;
  readonly page: number;
}
