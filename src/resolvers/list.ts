import { type Connection, connectionFromPages } from '../connection/connection.ts';
import type { Page } from '../connection/page.ts';
import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import { whenLoaded } from '../loaded.ts';
import { type ListName, type ListRef, listKeyOf } from '../rest/lists.ts';
import type { RecordOf } from '../rest/lists.ts';
import { readPage } from './lookup/read-page.ts';

/** A page's rows as nodes, made once for as long as the page itself is kept. */
const nodePages = new WeakMap<object, Page<unknown>>();

/**
 * A list of the Partner API as a connection. `toNode` must depend on the list and the row alone: the nodes are
 * shared by all who may read this list.
 */
export function listed<N extends ListName, Node extends { readonly id: string }>(
  list: ListRef<N>,
  args: WindowArgs,
  ctx: Context,
  toNode: (row: RecordOf<N>) => Node,
): Connection<Node> {
  auditFilter(list, ctx);
  const nodesOf = (page: Page<RecordOf<N>>): Page<Node> => {
    const known = nodePages.get(page);
    if (known) return known as Page<Node>;
    const rows = page.rows.map((row) => row && toNode(row));
    const made = { ...page, rows };
    nodePages.set(page, made);
    return made;
  };
  return connectionFromPages(
    args,
    {
      key: listKeyOf(list),
      idOf: (node: Node) => node.id,
      loadPage: (page, options) => whenLoaded(readPage(list, page, ctx, options), nodesOf),
      totalHint: () => ctx.loaders.totalOf(list),
    },
    ctx.cursors,
  );
}

/** Whether anybody matches a filter says something about patients, even where no row is shown: the list's owner is audited. */
function auditFilter({ name, id, filter }: ListRef, ctx: Context): void {
  if (!filter || !ctx.audit) return;
  if (name === 'clientsOfClinic') ctx.audit.saw(`Clinic:${id}`);
  if (name === 'clientsOfClinician') ctx.audit.saw(`Clinician:${id}`);
}
