import type { AuditSpool } from './audit-spool.ts';
import type { Metrics } from './metrics.ts';

/** What becomes of lines that nobody takes. */
export interface LineKeeping {
  /** Where audit lines wait meanwhile. What an earlier process left there goes out first. */
  keepIn(spool: AuditSpool): void;
  /** Why nobody could be told of a change that was made now. */
  problem(): string | undefined;
  counts(): LineCounts;
  /** Resolves when all is out, or what must not be lost is in the spool. */
  close(): Promise<void>;
}

interface LineCounts {
  /** Audit lines that wait on disk. */
  readonly spooled: number;
  /** Audit lines for which there was no room. */
  readonly lost: number;
  /** Other lines that nobody took. */
  readonly dropped: number;
}

/** For lines that are taken whatever happens. */
export const ALL_TAKEN: LineKeeping = {
  keepIn: () => undefined,
  problem: () => undefined,
  counts: () => ({ spooled: 0, lost: 0, dropped: 0 }),
  close: () => Promise.resolve(),
};

class AuditNotKept extends Error {
  override readonly name = 'AuditNotKept';
  readonly code = 'AUDIT_NOT_KEPT';
}

export async function checkLines(lines: LineKeeping): Promise<void> {
  const problem = lines.problem();
  if (problem !== undefined) throw new AuditNotKept(problem);
}

export function watchLines(lines: LineKeeping, metrics: Metrics): void {
  metrics.watch('auditSpooled', () => lines.counts().spooled);
  metrics.watch('auditLost', () => lines.counts().lost);
  metrics.watch('linesDropped', () => lines.counts().dropped);
}
