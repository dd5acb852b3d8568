/** What can be turned while the sandbox runs. */
export interface Switches {
  /** Added before every answer. */
  latencyMs: number;
  /** The share of requests that are answered 5xx, 0 to 1. */
  failureRate: number;
  /** Routes (templates, or `*`) that take a request and never answer. */
  hang: readonly string[];
  /** A transcript or MDM that is not there: the announced 404 instead of today's 200 with an error in it. */
  notReadyAs404: boolean;
  /** How long a partner token lasts that is given out from now on. */
  tokenSeconds: number;
  /** Every so many rewrites of a note it gets another id; 0 for never. */
  newNoteIdEvery: number;
  /** The share of webhooks that are sent twice, and that are overtaken by later ones. */
  duplicateRate: number;
  reorderRate: number;
  /** The time between two sessions that begin by themselves; 0 for none. */
  pulseMs: number;
  /** How long things take: recording to transcript, transcript to note, note to MDM, an edit, a signature. */
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

/** Takes over what is named and of the right type; throws for anything else, before changing a thing. */
export function turn(switches: Switches, change: object): void {
  for (const [name, value] of Object.entries(change)) {
    const current = Object.entries(DEFAULT_SWITCHES).find(([known]) => known === name)?.[1];
    if (current === undefined) {
      throw new Error(
        `wanted one of ${Object.keys(DEFAULT_SWITCHES).join(', ')}, but got another name`,
      );
    }
    if (!isLike(current, value)) {
      throw new Error(`"${name}" must be ${wordFor(current)}, but got ${JSON.stringify(value)}`);
    }
  }
  Object.assign(switches, change);
}

function isLike(current: unknown, value: unknown): boolean {
  if (Array.isArray(current)) {
    return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
  if (typeof current === 'number') return typeof value === 'number' && value >= 0;
  return typeof value === typeof current;
}

function wordFor(current: unknown): string {
  if (Array.isArray(current)) return 'a list of route templates';
  return typeof current === 'number' ? 'a number from 0' : 'true or false';
}
