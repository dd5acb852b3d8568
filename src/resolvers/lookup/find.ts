import type { Context } from '../../context.ts';
import type { Uuid } from '../../uuid.ts';
import { isOpen } from '../access/prove.ts';
import { missingArgument } from '../../errors.ts';
import { type ListedRef, parentsOf } from '../refs.ts';
import { findInList } from './find-in-list.ts';
import { findClientIn, isGranted, knownParents, search } from './search.ts';

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
  for (const { parent, list } of known) {
    // No list is read that the viewer may not: access may have been proven by another parent.
    if (!isGranted(ref, ctx) && !(await isOpen(parent, ctx))) continue;
    const found = await findInList(list, ref.id, ctx);
    if (found) return found;
  }
  if (known.length > 0) return undefined;
  if (ref.type === 'Organization') return findInList({ name: 'organizations' }, ref.id, ctx);
  if (ref.type === 'Session') {
    // Only if its client is known: a scan of all clients would take too many calls.
    const id = await ctx.hub.clientOfSession(ref.id);
    if (!id) throw missingArgument('`clientId` to `session(id:)`');
    return findInList({ name: 'sessionsOfClient', id }, ref.id, ctx);
  }
  // Upward links too: if the id may be shown, the record may be looked up.
  if (!ref.linked && !isGranted(ref, ctx)) return search(ref, ctx);
  const budget = { pagesLeft: ctx.lookupMaxCalls, argument: ARGUMENTS[ref.type] ?? '' };
  const places = ref.type === 'Client' ? await ctx.places.of(ref.id) : [];
  const seenIn = places.map(({ list }) => list);
  const client = await findClientIn(seenIn, ref.id as Uuid, ctx, { budget });
  if (client) return client;
  const underGrants = ctx.reach.isPartner ? undefined : await search(ref, ctx);
  return underGrants ?? search(ref, ctx, { budget });
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
