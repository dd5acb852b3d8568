import { CHILDREN_LIMIT, LINEAGE_KEPT_MS, LINEAGE_MAX_LINKS, isGone } from '../lineage-store.ts';
import type { LineageEngine, Link } from '../lineage-store.ts';
import type { Connection } from './connection.ts';
import { parentsScript, trimLinksScript, writeLinksScript } from './lineage-scripts.ts';
import { names, runScript } from './scripts.ts';

/** Links are told in pairs: a parent, then "page time", the page empty if not known. */
function linksOf(child: string, pairs: readonly string[]): readonly Link[] {
  const links: Link[] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    const [page, seenAt] = (pairs[at + 1] ?? '').split(' ');
    links.push({
      child,
      parent: pairs[at] ?? '',
      ...(page && { page: Number(page) }),
      seenAt: Number(seenAt),
    });
  }
  return links;
}

/** Reads and writes share a connection, so that a read sees every write before it. */
export function createRedisLineage({ command }: Pick<Connection, 'command'>): LineageEngine {
  return {
    write(changes) {
      const links = changes.filter((change): change is Link => !isGone(change));
      return runScript(
        command,
        writeLinksScript,
        [],
        [
          LINEAGE_KEPT_MS,
          CHILDREN_LIMIT,
          links.length,
          ...links.flatMap(({ child, parent, page, seenAt }) => [
            child,
            parent,
            page ?? '',
            Math.round(seenAt),
          ]),
          ...changes.filter(isGone).flatMap(({ child, parent }) => [child, parent]),
        ],
      );
    },
    async parentsOf(children) {
      const answers = await runScript<string[][]>(command, parentsScript, [], children);
      return children.map((child, index) => linksOf(child, answers[index] ?? []));
    },
    childrenOf: (parent, kind) =>
      command<string[]>(['ZRANGE', names.children(parent, kind), '0', '-1']),
  };
}

export async function trimLineage(
  { command }: Pick<Connection, 'command'>,
  now: number,
  maxChildren = LINEAGE_MAX_LINKS,
): Promise<void> {
  const args = [maxChildren, now - LINEAGE_KEPT_MS];
  while ((await runScript<number>(command, trimLinksScript, [], args)) > 0);
}
