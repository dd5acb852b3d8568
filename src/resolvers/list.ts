import { type Connection, connectionFromPages } from '../connection/connection.ts';
import { PAGE_SIZE } from '../page.ts';
import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import { type ListName, type ListRef, listKeyOf } from '../rest/lists.ts';
import type { Uuid } from '../uuid.ts';
import type { GrantedKind } from '../viewer/viewer.ts';
import { requireAccess } from './access/prove.ts';
import { readPage } from './lookup/find-in-list.ts';
import type { ListedRef, OrganizationRef, RowOf } from './refs.ts';

const idOf = (node: { readonly id: string }): string => node.id;

/** A list of the Partner API as a connection. */
function connectionOf<N extends ListName>(
  list: ListRef<N>,
  args: WindowArgs,
  ctx: Context,
): Connection<RowOf<N>> {
  const { name, id, filter } = list;
  // The result of a filter says something about patients even where no row is shown, so the list's owner is audited.
  if (filter && name === 'clientsOfClinic') ctx.audit?.recordRead(`Clinic:${id}`);
  if (filter && name === 'clientsOfClinician') ctx.audit?.recordRead(`Clinician:${id}`);
  return connectionFromPages(
    args,
    {
      key: listKeyOf(list),
      idOf,
      loadPage: (number, options) => readPage(list, number, ctx, options),
      totalHint: () => ctx.loaders.totalOf(list),
    },
    ctx.cursors,
  );
}

export interface ListArgs extends WindowArgs {
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

/** Resolves a list inside a record. An empty filter is no filter: the same list, cursors and cached pages. */
export function listOf<N extends ListName>(name: N) {
  return (parent: ListedRef, args: ListArgs, ctx: Context): Loaded<Connection<RowOf<N>>> => {
    const { filter } = args;
    const isFiltered = filter !== undefined && Object.keys(filter).length > 0;
    const list = { name, id: parent.id as Uuid, ...(isFiltered && { filter }) };
    return requireAccess(parent, ctx, () => connectionOf(list, args, ctx));
  };
}

/** All organizations for `partner`; for other viewers those that a grant names, with the same windows and no call. */
export function organizationsOfViewer(
  _parent: unknown,
  args: WindowArgs,
  ctx: Context,
): Connection<OrganizationRef> {
  if (ctx.reach.isPartner) return connectionOf({ name: 'organizations' }, args, ctx);
  const nodes = granted('Organization', ctx);
  return connectionFromPages(
    args,
    {
      key: 'granted organizations',
      idOf,
      loadPage: (page) => ({
        rows: nodes.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
        total: nodes.length,
        page,
      }),
      totalHint: () => nodes.length,
    },
    ctx.cursors,
  );
}

/** The records of one type that the viewer's grants name: known by id, and open. */
export const granted = <T extends Capitalize<GrantedKind>>(type: T, { reach }: Context) =>
  reach.granted(type.toLowerCase() as GrantedKind).map((id) => ({ type, id, open: true }));
