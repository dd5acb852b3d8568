/** Settings that can change while the sandbox runs. */
export interface Switches {
  /** Added to every response. */
  latencyMs: number;
  /** The share of requests that get a 5xx, 0 to 1. */
  failureRate: number;
  /** Routes (templates, or `*`) that never respond. */
  hang: readonly string[];
  /** A missing transcript or MDM gets the announced 404 instead of today's 200 with an error body. */
  notReadyAs404: boolean;
  /** Lifetime of partner tokens issued from now on. */
  tokenSeconds: number;
  /** After this many rewrites a note gets another id; 0 for never. */
  newNoteIdEvery: number;
  /** The share of webhooks that are sent twice, and that are sent after later ones. */
  duplicateRate: number;
  reorderRate: number;
  /** The interval of sessions that start by themselves; 0 for none. */
  pulseMs: number;
  /** Delays: start to transcript, transcript to note, note to MDM, request to rewrite, note to finalized. */
  transcriptMs: number;
  noteMs: number;
  mdmMs: number;
  rewriteMs: number;
  finalizeMs: number;
}

export const DEFAULT_SWITCHES: Readonly<Switches> = {
  latencyMs: 0,
  failureRate: 0,
  hang: [],
  notReadyAs404: false,
  tokenSeconds: 3600,
  newNoteIdEvery: 3,
  duplicateRate: 0.1,
  reorderRate: 0.1,
  pulseMs: 8_000,
  transcriptMs: 3_000,
  noteMs: 4_000,
  mdmMs: 1_500,
  rewriteMs: 3_000,
  finalizeMs: 60_000,
};

/** Applies the change. An unknown name or a wrong type throws, and then nothing is changed. */
export function changeSwitches(switches: Switches, change: object): void {
  for (const [name, value] of Object.entries(change)) {
    const current = Object.entries(DEFAULT_SWITCHES).find(([known]) => known === name)?.[1];
    if (current === undefined) {
      throw new Error(`a switch must be one of ${Object.keys(DEFAULT_SWITCHES).join(', ')}`);
    }
    if (!hasTypeOf(current, value)) {
      throw new Error(`"${name}" must be ${typeName(current)}, but got ${JSON.stringify(value)}`);
    }
  }
  Object.assign(switches, change);
}

function hasTypeOf(current: unknown, value: unknown): boolean {
  if (Array.isArray(current)) {
    return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
  if (typeof current === 'number') return typeof value === 'number' && value >= 0;
  return typeof value === typeof current;
}

function typeName(current: unknown): string {
  if (Array.isArray(current)) return 'a list of route templates';
  return typeof current === 'number' ? 'a number from 0' : 'true or false';
}
