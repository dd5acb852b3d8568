import { NotFound, hasCode } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { mapMaybePromise } from '../../maybe-promise.ts';
import { PAGE_SIZE, type Page, type Row, firstOffsetOf } from '../../page.ts';
import { type ListRef, listKeyOf } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import type { ListedRef, Parents } from '../refs.ts';
import { LISTS, auditNameOf, kindOf, listFor, parentListsOf } from '../refs.ts';
import { type ClientList, clientsOfClinic, clientsOfClinician } from './places.ts';

/** One page of a list. Its rows are recorded as proof, and the places of clients as hints for later look-ups. */
export const loadListPage = (list: ListRef, number: number, ctx: Context, since?: number) =>
  mapMaybePromise(ctx.loaders.page(list, number, since), seenPage, list, ctx);

function seenPage(page: Page<Row>, list: ListRef, ctx: Context): Page<ListedRef> {
  if (!page.refs) {
    page.refs = refsOf(list, page);
    ctx.recentLists.record(list, page);
    ctx.places.record(list, page);
  }
  const refs = page.refs as Page<ListedRef>;
  ctx.seenPages.add(refs);
  return refs;
}

/** They depend on the list and the page only, so all operations share them. */
function refsOf(list: ListRef, page: Page<Row>): Page<ListedRef> {
  const { row: type, parent } = { parent: undefined, ...LISTS[list.name] };
  const parents = parent && { [`${kindOf(parent)}Id`]: list.id };
  const rows = page.rows.map((record) => {
    const auditName = record && auditNameOf(type, record.id);
    return record && { type, id: record.id, record, open: true, auditName, ...parents };
  });
  return { ...page, rows: rows as ListedRef[] };
}

/** Pages of one list that are read in parallel: enough to be quick, few enough to stop early. */
const PAGES_AT_A_TIME = 4;
/** Events that arrive within this time share the page that was read for one of them, so that they do not cost a call each. */
const SHARED_MS = 250;

interface LookupOptions {
  /** The pages that a search of all lists may still request, and the argument to name in the message if it is cut. */
  readonly budget?: { pagesLeft: number; readonly argument: string };
  /**
   * When the client's last assessment came, for its event, which is looked up in the lists of each viewer. So a list that was
   * read through within the last minute without the client is not read again if a page from since then shows its length.
   */
  readonly assessedAt?: number | undefined;
}

const clinicsOf = (id: Uuid): ListRef => ({ name: 'clinicsOfOrganization', id });

/** Looks for records: with a budget in all lists; without one in those under the viewer's grants, however many. */
export function createLookup(ctx: Context, { budget, assessedAt }: LookupOptions = {}) {
  const { partner, places, reach, recentLists, relyOnProof } = ctx;

  /** Finds a record without a known parent. */
  async function search(ref: ListedRef): Promise<ListedRef | undefined> {
    if (ref.type === 'Client' && !budget) {
      const ofClinicians = reach.grantedIds('clinician').map(clientsOfClinician);
      const ofClinics = await Array.fromAsync(clinics(), clientsOfClinic);
      return findClient(ref.id, [...ofClinicians, ...ofClinics]);
    }
    const { name, parent } = parentListsOf(ref.type).at(-1)!;
    for await (const id of parent === 'Organization' ? organizations() : clinics()) {
      const found = await findInList(listFor(ref, name, id), ref.id);
      if (found) return found;
    }
    return undefined;
  }

  const organizations = () =>
    budget ? idsIn({ name: 'organizations' }) : reach.grantedIds('organization');

  async function* clinics(): AsyncGenerator<Uuid> {
    if (!budget) yield* reach.grantedIds('clinic');
    for await (const id of organizations()) yield* idsIn(clinicsOf(id));
  }

  /** The ids of all rows, page by page. */
  async function* idsIn(list: ListRef) {
    for (let page = 1, total = 1; firstOffsetOf(page) < total; page += 1) {
      const read = await readPage(list, page);
      total = read?.total ?? 0;
      for (const row of read?.rows ?? []) if (row) yield row.id as Uuid;
    }
  }

  /** Is the client in the list of each clinician, clinic and organization that is named? */
  async function isClientUnder({ clinicianId, clinicId, organizationId }: Parents, id: Uuid) {
    const isIn = async (lists: readonly ClientList[]) =>
      lists.some((list) => relyOnProof(list, id)) || (await findClient(id, lists)) !== undefined;
    if (clinicianId && !(await isIn([clientsOfClinician(clinicianId)]))) return false;
    if (clinicId && !(await isIn([clientsOfClinic(clinicId)]))) return false;
    if (!organizationId) return true;
    return isIn(await Array.fromAsync(idsIn(clinicsOf(organizationId)), clientsOfClinic));
  }

  /**
   * Looks in these lists, by default those where the client was last seen. Those come first, starting at that page: a
   * clinic's before a clinician's, who may be a secondary one from another clinic. The others follow, small ones first.
   */
  async function findClient(id: Uuid, among?: readonly ClientList[]) {
    if (among?.length === 0) return undefined;
    const known = await places.of(id);
    const lists = among ?? known.map(({ list }) => list);
    const pageIn = ({ name, id: parent }: ClientList) =>
      known.find(({ list }) => list.name === name && list.id === parent)?.page;
    const cost = (list: ClientList) => {
      if (pageIn(list)) return list.name === 'clientsOfClinic' ? 0 : 1;
      return partner.cache.totalOf(listKeyOf(list)) ?? 1_000;
    };
    for (const list of lists.toSorted((a, b) => cost(a) - cost(b))) {
      const found = await findInList(list, id, pageIn(list));
      if (found) return found;
    }
    return undefined;
  }

  /** The row with this id, searched from the page where it was last seen; undefined if it is not in the list. */
  async function findInList(list: ListRef, id: string, lastSeenOn = 1) {
    // Cached pages may be older than an event that contradicts them.
    const since = recentLists.contradictedAt(list, id);
    let { row, rescanSince } = await scan(list, id, lastSeenOn, since);
    // So may the page just read: the event may have come meanwhile, or after another operation had requested it.
    if (row && recentLists.contradictedAt(list, id) > since) rescanSince = recentLists.now();
    if (rescanSince !== undefined) ({ row } = await scan(list, id, lastSeenOn, rescanSince));
    if (row) {
      relyOnProof(list, id);
      return row;
    }
    recentLists.remove(list, id);
    places.remove(list, id);
    return undefined;
  }

  /**
   * Looks for the row on pages that were requested after `since`. `rescanSince`: the list may have changed during the scan,
   * so pages requested before then must be read again.
   */
  async function scan(list: ListRef, id: string, start: number, since: number) {
    const rowIn = (page?: Page<ListedRef>) => page?.rows.find((row) => row?.id === id);
    const eventSince = Math.min(assessedAt ?? 0, recentLists.now() - SHARED_MS);
    // Pages that this operation has requested, for another look-up or a list, are part of the scan. An event may be newer.
    const began = Math.max(since, ctx.loaders.freshSince, eventSince);
    const firstSince = Math.max(since, eventSince);
    let first = await readPage(list, start, firstSince);
    if (start > 1) first ??= await readPage(list, 1, firstSince);
    const here = rowIn(first);
    if (!first || here) return { row: here };
    const { total } = first;
    if (assessedAt !== undefined && recentLists.isAbsent(list, id, total)) return {};
    const pages: (typeof first | undefined)[] = [first];
    for await (const page of otherPages(list, first, since)) {
      const row = rowIn(page);
      if (row) return { row };
      pages.push(page);
    }
    const times = pages.map((page) => page?.requestedAt ?? began);
    const [oldest, newest] = [Math.min(...times), Math.max(...times)];
    const isChanged = pages.some((page) => page?.total !== total);
    // A later page, such as one of a filter, may have had the row, or a later event may name the list.
    const seenAt = Math.max(recentLists.lastReadAt(list, id), recentLists.contradictedAt(list, id));
    if (isChanged || seenAt > oldest) return { rescanSince: recentLists.now() };
    if (oldest >= began) recentLists.recordFullScan(list, total, began);
    // Cached pages do not fit together with new ones, or if they are seconds apart: as many rows may have been added as
    // were removed in between, and a row that has moved could be on none of them. A full scan without it is proof enough.
    const isApart = newest - oldest > SHARED_MS && !recentLists.isAbsent(list, id, total);
    return { rescanSince: oldest < began && (newest >= began || isApart) ? began : undefined };
  }

  /** The other pages of the list, the nearest first: rows move by a few places, not by many. */
  async function* otherPages(list: ListRef, from: Page<Row>, since: number) {
    const numbers = othersByDistance(from.page, Math.ceil(from.total / PAGE_SIZE));
    for (;;) {
      // Limited by the budget: a call in flight when the look-up is cut would be wasted.
      const size = Math.max(1, Math.min(PAGES_AT_A_TIME, budget?.pagesLeft ?? PAGES_AT_A_TIME));
      const next = Array.from({ length: size }, () => numbers.next().value ?? []).flat();
      if (next.length === 0) return;
      const reads = next.map((page) => readPage(list, page, since));
      // Awaits all, even if one fails: a call that is not awaited would be counted too late.
      await Promise.allSettled(reads);
      yield* await Promise.all(reads);
    }
  }

  /** Undefined if the parent is gone, or the list became shorter than this page. */
  async function readPage(list: ListRef, page: number, since?: number) {
    const key = listKeyOf(list);
    if (ctx.missingLists.has(key)) return undefined;
    if (budget && budget.pagesLeft <= 0)
      throw new NotFound(
        `The record was not found within ${ctx.lookupMaxCalls} calls to the Partner API: add ${budget.argument} to say where it is.`,
      );
    try {
      const read = loadListPage(list, page, ctx, since);
      // A cached page costs no call.
      if (budget && read instanceof Promise) budget.pagesLeft -= 1;
      return await read;
    } catch (error) {
      if (!hasCode(error, 'NOT_FOUND')) throw error;
      if (page === 1) ctx.missingLists.add(key);
      return undefined;
    }
  }

  return { findClient, findInList, isClientUnder, search };
}

/** Not as an array, since a wrong total may be huge. */
function* othersByDistance(page: number, last: number): Generator<number, undefined> {
  for (let distance = 1; distance < Math.max(page, last); distance += 1) {
    if (page - distance >= 1 && page - distance <= last) yield page - distance;
    if (page + distance <= last) yield page + distance;
  }
}
