/** Settings that can change while the sandbox runs, and their defaults. */
export const DEFAULT_SWITCHES = {
  /** Added to every response. */
  latencyMs: 0,
  /** The share of requests that get a 5xx, 0 to 1. */
  failureRate: 0,
  /** Routes (templates, or `*`) that never respond. */
  hang: [] as readonly string[],
  /** A missing transcript or MDM gets the announced 404 instead of today's 200 with an error body. */
  notReadyAs404: false,
  /** Lifetime of partner tokens issued from now on. */
  tokenSeconds: 3600,
  /** After this many rewrites a note gets a new id; 0 for never. */
  newNoteIdEvery: 3,
  /** The share of webhooks that are sent twice, and the share that are sent after later ones. */
  duplicateRate: 0.1,
  reorderRate: 0.1,
  /** The interval at which sessions start automatically; 0 for never. */
  pulseMs: 8_000,
  /** Delays: start to transcript, transcript to note, note to MDM, request to rewrite, note to finalized. */
  transcriptMs: 2_000,
  noteMs: 3_000,
  mdmMs: 1_500,
  rewriteMs: 3_000,
  finalizeMs: 60_000,
};

export type Switches = typeof DEFAULT_SWITCHES;

/** Applies the change. Throws for an unknown name or a wrong type; then nothing is changed. */
export function changeSwitches(switches: Switches, change: object): void {
  const defaults = new Map<string, unknown>(Object.entries(DEFAULT_SWITCHES));
  for (const [name, value] of Object.entries(change)) {
    if (!defaults.has(name)) {
      throw new Error(`a switch must be one of ${[...defaults.keys()].join(', ')}`);
    }
    const expected = expectedInsteadOf(value, defaults.get(name));
    if (expected) {
      throw new Error(`"${name}" must be ${expected}, but got ${JSON.stringify(value)}`);
    }
  }
  Object.assign(switches, change);
}

/** Undefined if the value has the type of the default. */
function expectedInsteadOf(value: unknown, defaultValue: unknown): string | undefined {
  if (Array.isArray(defaultValue)) {
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    return isList ? undefined : 'a list of route templates';
  }
  if (typeof defaultValue === 'number') {
    const isInRange = typeof value === 'number' && value >= 0 && value < 2 ** 31;
    return isInRange ? undefined : 'a number from 0 to 2147483647';
  }
  return typeof value === 'boolean' ? undefined : 'true or false';
}
