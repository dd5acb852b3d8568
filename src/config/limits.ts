import type { Reader } from './reader.ts';

/** What one caller may ask for. Whatever is over a limit is refused before it costs anything upstream. */
export interface Limits {
  readonly bodyBytes: number;
  readonly webhookBytes: number;
  readonly frameBytes: number;
  readonly documentCharacters: number;
  readonly documentTokens: number;
  readonly depth: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  readonly operationMs: number;
  readonly headersMs: number;
  readonly requestMs: number;
  readonly socketInitMs: number;
  readonly socketPingMs: number;
  readonly socketMessages: number;
  readonly socketMessagesWindowMs: number;
  readonly socketQueueEvents: number;
  readonly socketQueueBytes: number;
  readonly operationsPerSocket: number;
  readonly socketsPerViewer: number;
}

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 262_144,
  webhookBytes: 262_144,
  frameBytes: 65_536,
  documentCharacters: 15_000,
  documentTokens: 1_000,
  depth: 12,
  aliases: 30,
  rootFields: 10,
  directives: 20,
  operationMs: 15_000,
  headersMs: 10_000,
  requestMs: 30_000,
  socketInitMs: 3_000,
  socketPingMs: 12_000,
  socketMessages: 120,
  socketMessagesWindowMs: 10_000,
  socketQueueEvents: 256,
  socketQueueBytes: 1_048_576,
  operationsPerSocket: 50,
  socketsPerViewer: 20,
};

/** The ceilings are where a limit would stop protecting anything. */
export function readLimits(reader: Reader): Limits {
  const usual = DEFAULT_LIMITS;
  return {
    ...usual,
    bodyBytes: reader.integer('LIMIT_BODY_BYTES', { min: 1_024, max: 16_777_216 }, usual.bodyBytes),
    documentCharacters: reader.integer(
      'LIMIT_DOCUMENT_CHARACTERS',
      { min: 100, max: 1_000_000 },
      usual.documentCharacters,
    ),
    documentTokens: reader.integer(
      'LIMIT_DOCUMENT_TOKENS',
      { min: 10, max: 100_000 },
      usual.documentTokens,
    ),
    depth: reader.integer('LIMIT_DEPTH', { min: 1, max: 50 }, usual.depth),
    aliases: reader.integer('LIMIT_ALIASES', { min: 0, max: 1_000 }, usual.aliases),
    operationMs: reader.integer(
      'LIMIT_OPERATION_MS',
      { min: 100, max: 600_000 },
      usual.operationMs,
    ),
    operationsPerSocket: reader.integer(
      'LIMIT_OPERATIONS_PER_SOCKET',
      { min: 1, max: 10_000 },
      usual.operationsPerSocket,
    ),
    socketsPerViewer: reader.integer(
      'LIMIT_SOCKETS_PER_VIEWER',
      { min: 1, max: 1_000_000 },
      usual.socketsPerViewer,
    ),
  };
}
