import { Connection } from '../connection/connection.ts';
import { PAGE_SIZE, type Page } from '../page.ts';
import type { WindowArgs } from '../connection/window.ts';
import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import { type ListName, type ListRef, type RecordOf, listKeyOf } from '../rest/lists.ts';
import { auditNameOf } from './access/audit-reads.ts';
import { requireAccess } from './access/require-access.ts';
import { readPage } from './lookup/find-in-list.ts';
import { KINDS, type ListedRef, type NodeOf, parentIn } from './refs.ts';

/** Nodes of a page's rows. Nodes depend on list and row alone and are shared by all who may read the list. */
const nodePages = new WeakMap<object, Page<unknown>>();

function nodesOf<N extends ListName>(list: ListRef<N>, page: Page<RecordOf<N>>): Page<NodeOf<N>> {
  const known = nodePages.get(page);
  if (known) return known as Page<NodeOf<N>>;
  const kind = KINDS[list.name];
  const parent = parentIn(list);
  const toNode = (record: RecordOf<ListName> | undefined) =>
    record && {
      kind,
      id: record.id,
      record,
      open: true,
      auditName: auditNameOf(kind, record.id),
      ...parent,
    };
  const nodes = { ...page, rows: page.rows.map(toNode) };
  nodePages.set(page, nodes);
  return nodes as unknown as Page<NodeOf<N>>;
}

const idOf = (node: { readonly id: string }): string => node.id;

/** A list of the Partner API as a connection. */
export function connectionOf<N extends ListName>(
  list: ListRef<N>,
  args: WindowArgs,
  ctx: Context,
): Connection<NodeOf<N>> {
  auditFilter(list, ctx);
  return new Connection(
    args,
    {
      key: listKeyOf(list),
      idOf,
      loadPage: (number, options) =>
        whenLoaded(readPage(list, number, ctx, options), (page) => nodesOf(list, page)),
      totalHint: () => ctx.loaders.totalOf(list),
    },
    ctx.cursors,
  );
}

/** The result of a filter says something about patients even where no row is shown, so the list's owner is audited. */
function auditFilter({ name, id, filter }: ListRef, ctx: Context): void {
  if (!filter || !ctx.audit) return;
  if (name === 'clientsOfClinic') ctx.audit.recordRead(`Clinic:${id}`);
  if (name === 'clientsOfClinician') ctx.audit.recordRead(`Clinician:${id}`);
}

interface ListArgs extends WindowArgs {
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

/** Resolves a list inside a record. An empty filter is no filter: the same list, cursors and cached pages. */
export function listOf<N extends ListName>(name: N) {
  return (parent: ListedRef, args: ListArgs, ctx: Context): Loaded<Connection<NodeOf<N>>> => {
    const { filter } = args;
    const isFiltered = filter !== undefined && Object.keys(filter).length > 0;
    const list = { name, id: parent.id, ...(isFiltered && { filter }) };
    return requireAccess(parent, ctx, () => connectionOf(list, args, ctx));
  };
}

/** A connection over nodes that are known already: the same windows and cursors, and no call. */
export function connectionOfNodes<Node extends { readonly id: string }>(
  key: string,
  nodes: readonly Node[],
  args: WindowArgs,
  ctx: Context,
): Connection<Node> {
  return new Connection(
    args,
    {
      key,
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
