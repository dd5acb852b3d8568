import type { WebhookEvent } from './events.ts';
import type { SeenRequest } from './request-log.ts';
import type { SandboxIds } from './sandbox-ids.ts';
import type { ScriptedAnswer } from './scripts.ts';
import type { Stage } from './stage.ts';
import type { Switches } from './switches.ts';

export interface SandboxOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** The same seed makes the same partner, ids included. */
  readonly seed?: number;
  readonly switches?: Partial<Switches>;
  readonly signatureHeader?: string;
  /** The wait before a webhook is tried again; doubled each time, up to a minute. */
  readonly firstRetryMs?: number;
  /** How many requests `requests` remembers. */
  readonly rememberedRequests?: number;
}

export interface Connection {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly apiKey: string;
}

export interface Sandbox extends Stage {
  readonly connection: Connection;
  readonly ids: SandboxIds;

  readonly switches: Readonly<Switches>;
  readonly set: (change: Partial<Switches>) => void;
  /** The next requests for a route (`GET /clinics/:clinicId/clients`, verb optional, `*` for all) get this. */
  readonly answerNext: (pattern: string, answer: ScriptedAnswer) => void;
  readonly clearAnswers: () => void;
  /** All tokens given out so far: 401 from now on. */
  readonly expireTokens: () => void;
  /** All tokens given out so far: 403 from now on, as if never known. */
  readonly revokeTokens: () => void;
  /** Does at once whatever generation is under way. */
  readonly settle: () => void;
  /** Does the next step of it at once: a transcript, half a note, a note, an edit. */
  readonly step: () => void;

  /** Where webhooks go. Without an address the latest 1,000 wait for one. */
  readonly deliverTo: (url: string | undefined) => void;
  readonly emit: (event: WebhookEvent) => void;
  /** At least so many events now, each of a session that has just been written up. */
  readonly burst: (count: number) => void;
  /** What was emitted, oldest first, the latest 1,000. */
  readonly events: readonly WebhookEvent[];
  /** Resolves once every webhook was answered 2xx. */
  readonly delivered: () => Promise<void>;

  /** The latest requests to the API, oldest first. */
  readonly requests: readonly SeenRequest[];
  readonly countOf: (pattern?: string) => number;
  /** The most requests that were open at the same time. */
  readonly mostAtOnce: () => number;
  readonly resetCounts: () => void;

  /** At once: connections are cut, what is under way is dropped. */
  readonly close: () => Promise<void>;
}
