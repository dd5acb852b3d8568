/** Small durable facts with an end: idempotency claims, locked notes, failed sessions. */
export interface KeyStore {
  /** Sets the value if the key is free and answers undefined; otherwise answers the value that is there. */
  claim(key: string, value: string, ttlMs: number): Promise<string | undefined>;
  put(key: string, value: string, ttlMs: number): Promise<void>;
  get(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  delete(key: string): Promise<void>;
}
