import type { Context } from '../context.ts';
import { NotFound } from './not-found.ts';

/** The partner's own record is for whoever acts for the partner. */
export function partnerRecord(_parent: unknown, _args: unknown, ctx: Context) {
  if (!ctx.reach.isPartner) throw new NotFound();
  return ctx.loaders.partner();
}
