import type { Context } from '../context.ts';

/** What is done to a patient's record must be found later: a change that can't be written down is not made. */
export class Unrecorded extends Error {
  override readonly name = 'Unrecorded';
  readonly code = 'UPSTREAM_UNAVAILABLE';

  constructor() {
    super(
      'Nothing was changed: this gateway can’t write down who changes what. Try again in some minutes.',
    );
  }
}

/** A line before anything is sent and one with what came of it: a crash between the two leaves its trace. */
export async function auditedWrite<T extends { readonly kind: string }>(
  what: string,
  record: string,
  ctx: Context,
  write: () => Promise<T>,
): Promise<T> {
  if (ctx.audit && !ctx.isAuditKept()) throw new Unrecorded();
  ctx.audit?.did(`${what}: asked for`, record);
  try {
    const outcome = await write();
    ctx.audit?.did(`${what}: ${outcome.kind === 'missing' ? 'denied' : outcome.kind}`, record);
    return outcome;
  } catch (error) {
    ctx.audit?.did(`${what}: ${codeOf(error)}`, record);
    throw error;
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'failed';
