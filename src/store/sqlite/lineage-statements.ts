import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Link } from '../lineage-store.ts';
import { CHILDREN_LIMIT, LINEAGE_KEPT_MS, LINEAGE_MAX_LINKS } from '../lineage-store.ts';
import { FLAT_LENGTH, GONE, NO_PAGE } from './flat-links.ts';
import type { FlatLink, FlatLinks } from './flat-links.ts';

const SWEEP_BATCH = 500;

const linkOf = (row: Record<string, SQLOutputValue>): Link => ({
  child: String(row['child']),
  parent: String(row['parent']),
  ...(row['page'] !== null && { page: Number(row['page']) }),
  seenAt: Number(row['seen_at']),
});

export function lineageStatements(db: DatabaseSync, maxLinks = LINEAGE_MAX_LINKS) {
  const add = db.prepare(
    `INSERT INTO link (child, parent, page, seen_at) VALUES (?, ?, ?, ?) ON CONFLICT (child, parent)
     DO UPDATE SET page = coalesce(excluded.page, page), seen_at = max(excluded.seen_at, seen_at)`,
  );
  const remove = db.prepare('DELETE FROM link WHERE child = ? AND parent = ?');
  const parents = db.prepare('SELECT child, parent, page, seen_at FROM link WHERE child = ?');
  // ';' is the character after ':': the range holds exactly the children of one kind.
  const children = db.prepare(
    `SELECT child FROM link WHERE parent = :parent AND child >= :kind || ':' AND child < :kind || ';'
     ORDER BY seen_at DESC LIMIT ${CHILDREN_LIMIT}`,
  );
  const span = db.prepare(
    'SELECT coalesce(max(id) - min(id) + 1, 0) AS links FROM (SELECT min(id) AS id FROM link UNION ALL SELECT max(id) FROM link)',
  );
  const lowest = db.prepare(`SELECT * FROM link ORDER BY id LIMIT ${SWEEP_BATCH}`);
  const from = db.prepare(
    `SELECT id, seen_at FROM link WHERE id > ? ORDER BY id LIMIT ${SWEEP_BATCH}`,
  );
  const removeId = db.prepare('DELETE FROM link WHERE id = ?');
  let sweptTo = 0;

  function sweep(now: number) {
    const rows = from.all(sweptTo);
    sweptTo = rows.length < SWEEP_BATCH ? 0 : Number(rows.at(-1)?.['id']);
    const unseen = rows.filter((row) => Number(row['seen_at']) < now - LINEAGE_KEPT_MS);
    for (const row of unseen) removeId.run(row['id'] ?? null);
  }

  /** Of the first recorded the half least lately seen goes; the rest is recorded anew, at the far end. */
  function evict() {
    const rows = lowest.all().toSorted((a, b) => Number(a['seen_at']) - Number(b['seen_at']));
    for (const row of rows) removeId.run(row['id'] ?? null);
    for (const row of rows.slice(Math.ceil(rows.length / 2)).map(linkOf)) {
      add.run(row.child, row.parent, row.page ?? null, row.seenAt);
    }
  }

  return {
    writeLinks(links: FlatLinks): void {
      for (let at = 0; at < links.length; at += FLAT_LENGTH) {
        const [child, parent, page, seenAt] = links.slice(at, at + FLAT_LENGTH) as FlatLink;
        if (page === GONE) remove.run(child, parent);
        else add.run(child, parent, page === NO_PAGE ? null : page, seenAt);
      }
    },
    parentsOf: (of: readonly string[]) => of.map((child) => parents.all(child).map(linkOf)),
    childrenOf: (parent: string, kind: string) =>
      children
        .all({ parent, kind })
        .map((row) => String(row['child']))
        .toReversed(),
    /** Answers whether there are still too many. */
    trimLinks(now: number): boolean {
      sweep(now);
      const tooMany = Number(span.get()?.['links']) > maxLinks;
      if (tooMany) evict();
      return tooMany;
    },
  };
}
