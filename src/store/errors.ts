/** The write could not be made durable, or the store can't be reached. A retry may succeed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code = 'STORE_UNAVAILABLE';
}
