export interface QuarantineEntry {
  readonly receivedAt: number;
  readonly reason: string;
  readonly body: string;
}

export interface QuarantinedEntry extends QuarantineEntry {
  readonly id: string;
}

/** Events that were signed but not understood, or understood but not to be handled, for an operator to look at and replay. */
export interface Quarantine {
  add(entry: QuarantineEntry): Promise<void>;
  /** Oldest first. */
  list(limit: number): Promise<readonly QuarantinedEntry[]>;
  remove(id: string): Promise<void>;
  count(): Promise<number>;
}

/** Past this the oldest give way: a sender gone astray must not fill the disk. */
export const QUARANTINE_MAX_ENTRIES = 10_000;
