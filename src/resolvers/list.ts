import { type Connection, connectionFromPages } from '../connection/connection.ts';
import type { Page } from '../connection/page.ts';
import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import { whenLoaded } from '../loaded.ts';
import { type ListName, type ListRef, listKeyOf } from '../rest/lists.ts';
import type { RecordOf } from '../rest/lists.ts';
import { readPage } from './pages.ts';
import type { Named } from './shown.ts';

/** A page's rows as nodes, made once for as long as the page itself is kept. */
const nodePages = new WeakMap<object, Page<unknown>>();

/**
 * One of those nodes: the same object means the same row of the same answer. A field of its own tells it, since weak
 * sets of rows that come and go by the thousand cost the collector more than all else that is done with them.
 */
export interface Row extends Named {
  /** How it was shown last: whatever stands for that. */
  shownAs: object | undefined;
}

export const isRow = (node: object): node is Row => 'shownAs' in node;

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
  const nodesOf = (page: Page<RecordOf<N>>): Page<Node> => {
    const known = nodePages.get(page);
    if (known) return known as Page<Node>;
    const rows = page.rows.map((row) => row && { ...toNode(row), shownAs: undefined });
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
