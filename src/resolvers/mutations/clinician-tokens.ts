import type { Context } from '../../context.ts';
import { PartnerNotFound } from '../../rest/errors.ts';
import type { JsonObject } from '../../rest/json.ts';
import type { Uuid } from '../../uuid.ts';
import { isOpen } from '../access/prove.ts';
import { BadInput } from '../errors.ts';
import { auditedWrite } from './write.ts';

export type TokenOutcome =
  | { readonly kind: 'minted'; readonly tokens: JsonObject }
  | { readonly kind: 'missing' };

/**
 * One pair a call, for one browser session: a refresh token that is used twice signs its clinician out everywhere. So a
 * pair is returned over plain HTTP only and is never stored, shared, sent again or logged.
 */
export function authenticateClinician(id: Uuid, ctx: Context): Promise<TokenOutcome> {
  const change = {
    action: 'authenticateClinician',
    record: `Clinician:${id}`,
    hint: 'ask for another pair',
  };
  return auditedWrite(change, ctx, async () => {
    if (ctx.transport !== 'http') {
      throw new BadInput('Clinician tokens are available over plain HTTP only.');
    }
    if (!(await isOpen({ kind: 'clinician', id, open: false }, ctx))) return { kind: 'missing' };
    try {
      const tokens = await ctx.partner.writes.authenticateClinician(id, ctx.usage);
      return { kind: 'minted', tokens };
    } catch (error) {
      if (error instanceof PartnerNotFound) return { kind: 'missing' };
      throw error;
    }
  });
}
