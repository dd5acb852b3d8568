import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { LogBounds, StoredEvent } from '../event-log.ts';
import { expiredUpTo } from '../retention.ts';
import type { Indexes } from './indexes.ts';

const TRIM_BATCH = 500;

const storedEvent = (row: Record<string, SQLOutputValue>): StoredEvent => ({
  position: Number(row['position']),
  receivedAt: Number(row['received_at']),
  body: String(row['body']),
});

/** Reading and trimming the log. */
export function eventStatements(db: DatabaseSync, indexes: Indexes) {
  const columns = 'position, received_at, body';
  const epoch = db.prepare("SELECT value FROM meta WHERE name = 'epoch'");
  const oldest = db.prepare('SELECT min(position) AS position FROM event');
  const event = db.prepare(`SELECT ${columns} FROM event WHERE position = ?`);
  const after = db.prepare(
    `SELECT ${columns} FROM event WHERE position > ? ORDER BY position LIMIT ?`,
  );
  const dates = db.prepare(
    `SELECT position, received_at FROM event ORDER BY position LIMIT ${TRIM_BATCH}`,
  );
  const unindex = db.prepare(
    `DELETE FROM event_of_subject WHERE (subject, position) IN
     (SELECT subject, position FROM event WHERE position <= ? AND subject IS NOT NULL)`,
  );
  const trim = db.prepare('DELETE FROM event WHERE position <= ?');
  const touch = db.prepare("INSERT OR REPLACE INTO meta VALUES ('checked', ?)");

  return {
    bounds(): LogBounds {
      const last = indexes.newest();
      return {
        epoch: String(epoch.get()?.['value']),
        oldest: Number(oldest.get()?.['position'] ?? last + 1) - 1,
        newest: last,
      };
    },
    eventsAfter: (position: number, limit: number) => after.all(position, limit).map(storedEvent),
    eventsOfSubject: (subject: string) =>
      indexes
        .positionsOf(subject)
        .map((position) => event.get(position))
        .filter((row) => row !== undefined)
        .map(storedEvent),
    /** Answers whether there may be more to remove. */
    trimEvents(now: number, retentionMs: number): boolean {
      const rows = dates.all().map((row) => ({
        position: Number(row['position']),
        receivedAt: Number(row['received_at']),
      }));
      const upTo = expiredUpTo(rows, now, retentionMs);
      if (upTo === 0) return false;
      // Their keys outlive them.
      indexes.write(upTo);
      unindex.run(upTo);
      return Number(trim.run(upTo).changes) === TRIM_BATCH;
    },
    touch: (now: number) => void touch.run(String(now)),
  };
}
