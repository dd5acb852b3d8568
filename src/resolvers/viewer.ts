import type { WindowArgs } from '../connection/window.ts';
import type { Context } from '../context.ts';
import { type GrantedKind, grantText } from '../viewer/viewer.ts';
import { NotFound } from './errors.ts';
import { connectionOf, connectionOfNodes } from './list.ts';

export const grantsOf = (_parent: unknown, _args: unknown, ctx: Context): readonly string[] =>
  ctx.viewer.grants.map(grantText);

const grantedRecords = <K extends GrantedKind>(kind: K, ctx: Context) =>
  ctx.reach.granted(kind).map((id) => ({ kind, id, open: true }));

/** Resolves the records of one kind that the viewer's grants name: known by id, and open. */
export const granted =
  <K extends GrantedKind>(kind: K) =>
  (_parent: unknown, _args: unknown, ctx: Context) =>
    grantedRecords(kind, ctx);

/** All organizations for `partner`; for other viewers those that a grant names. */
export function organizationsOfViewer(_parent: unknown, args: WindowArgs, ctx: Context) {
  return ctx.reach.isPartner
    ? connectionOf({ name: 'organizations' }, args, ctx)
    : connectionOfNodes('granted organizations', grantedRecords('organization', ctx), args, ctx);
}

/** The partner's own record is open to `partner` only. */
export function partnerRecord(_parent: unknown, _args: unknown, ctx: Context) {
  if (!ctx.reach.isPartner) throw new NotFound();
  return ctx.loaders.partner();
}
