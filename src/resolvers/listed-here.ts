import { type Connection, connectionFromPages } from '../connection/connection.ts';
import { PAGE_SIZE } from '../connection/page.ts';
import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';

/** A connection over what is known here already: the same windows and cursors, and no call. */
export function listedHere<Node extends { readonly id: string }>(
  key: string,
  nodes: readonly Node[],
  args: WindowArgs,
  ctx: Context,
): Connection<Node> {
  return connectionFromPages(
    args,
    {
      key,
      idOf: (node: Node) => node.id,
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
