import type { Context } from '../context.ts';
import { PartnerNotFound } from '../rest/errors.ts';
import type { JsonObject } from '../rest/json.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen } from './access/prove.ts';
import { BadInput } from './bad-input.ts';
import { withWriteErrors } from './write-errors.ts';

export type TokenOutcome =
  | { readonly kind: 'minted'; readonly tokens: JsonObject }
  | { readonly kind: 'missing' };

/**
 * One pair a call, for one browser session: a refresh token that is used twice signs its clinician out everywhere. So
 * it goes to whoever asked over plain HTTP and is neither kept, shared, sent again nor logged.
 */
export async function authenticateClinician(
  clinicianId: Uuid,
  ctx: Context,
): Promise<TokenOutcome> {
  if (ctx.door !== 'http')
    throw new BadInput('Clinician tokens are handed out over plain HTTP only.');
  return withWriteErrors('ask for another pair', () => mint(clinicianId, ctx));
}

async function mint(clinicianId: Uuid, ctx: Context): Promise<TokenOutcome> {
  const clinician = { kind: 'clinician', id: clinicianId, open: false } as const;
  if (!(await isOpen(clinician, ctx))) return { kind: 'missing' };
  try {
    const tokens = await ctx.partner.writes.authenticateClinician(clinicianId, ctx.usage);
    return { kind: 'minted', tokens };
  } catch (error) {
    if (error instanceof PartnerNotFound) return { kind: 'missing' };
    throw error;
  }
}
