import type { Context } from '../../context.ts';
import { isGranted, isOpen } from '../access/prove.ts';
import { missingArgument } from '../../errors.ts';
import { type ListedRef, knownParents, parentsOf } from '../refs.ts';
import { Lookup } from './lookup.ts';

/**
 * The Partner API has no get-by-id for records in lists, so a record known by id alone is looked up there: in the
 * parent that its id, the arguments or the event name, and nowhere else; otherwise in the lists that the viewer's grants
 * cover; and for a `partner`, or if a grant names the record itself, in all lists, within a budget of calls.
 */

/** The row of the record, looked up once per operation. Finding it does not prove access. */
export function find(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const name = [ref.type, ref.id, ...Object.values(parentsOf(ref))].join(':');
  const lookup = ctx.lookups.get(name) ?? lookUp(ref, ctx);
  ctx.lookups.set(name, lookup);
  return lookup;
}

async function lookUp(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const seen = findInSeenPages(ref, ctx);
  if (seen) return seen;
  const known = knownParents(ref);
  const lookup = new Lookup(ctx);
  for (const { parent, list } of known) {
    // No list is read that the viewer may not: access may have been proven by another parent.
    if (!isGranted(ref, ctx) && !(await isOpen(parent, ctx))) continue;
    const found = await lookup.find(list, ref.id);
    if (found) return found;
  }
  if (known.length > 0) return undefined;
  if (ref.type === 'Organization') return lookup.find({ name: 'organizations' }, ref.id);
  if (ref.type === 'Session') {
    // Only if its client is known: a scan of all clients would take too many calls.
    const id = await ctx.hub.clientOfSession(ref.id);
    if (!id) throw missingArgument('`clientId` to `session(id:)`');
    return lookup.find({ name: 'sessionsOfClient', id }, ref.id);
  }
  // Upward links too: if the id may be shown, the record may be looked up.
  if (!ref.linked && !isGranted(ref, ctx)) return lookup.search(ref);
  const budget = { pagesLeft: ctx.lookupMaxCalls, argument: ARGUMENTS[ref.type] ?? '' };
  const everywhere = new Lookup(ctx, { budget });
  const client = ref.type === 'Client' ? await everywhere.findClient(ref.id) : undefined;
  if (client) return client;
  const underGrants = ctx.reach.isPartner ? undefined : await lookup.search(ref);
  return underGrants ?? everywhere.search(ref);
}

/** The argument that would say where the record is. */
const ARGUMENTS: Partial<Record<ListedRef['type'], string>> = {
  Clinic: '`organizationId`',
  Program: 'its organization',
  Clinician: '`clinicId`',
  Client: '`clinicId` or `clinicianId`',
};

/** In the pages that this operation has read already, if they may hold the record. */
function findInSeenPages(ref: ListedRef, ctx: Context): ListedRef | undefined {
  const parents = Object.values(parentsOf(ref)).filter((id) => id !== undefined);
  for (const { rows } of ctx.seenPages) {
    const row = rows.find((each) => each?.id === ref.id && each.type === ref.type);
    const isThere = row && Object.values(parentsOf(row)).some((id) => parents.includes(id));
    if (row && (isThere || parents.length === 0)) return row;
  }
  return undefined;
}
