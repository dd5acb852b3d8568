import type { DatabaseSync } from 'node:sqlite';
import type { QuarantinedEntry } from '../quarantine.ts';
import { QUARANTINE_MAX_ENTRIES } from '../quarantine.ts';

export function quarantineStatements(db: DatabaseSync) {
  const add = db.prepare('INSERT INTO quarantine (received_at, reason, body) VALUES (?, ?, ?)');
  const list = db.prepare('SELECT * FROM quarantine ORDER BY id LIMIT ?');
  const remove = db.prepare('DELETE FROM quarantine WHERE id = ?');
  const count = db.prepare('SELECT count(*) AS entries FROM quarantine');
  const removeOldest = db.prepare(
    'DELETE FROM quarantine WHERE id IN (SELECT id FROM quarantine ORDER BY id LIMIT ?)',
  );

  const countEntries = () => Number(count.get()?.['entries']);

  return {
    quarantine(receivedAt: number, reason: string, body: string): void {
      add.run(receivedAt, reason, body);
      const excess = countEntries() - QUARANTINE_MAX_ENTRIES;
      if (excess > 0) removeOldest.run(excess);
    },
    quarantined: (limit: number): readonly QuarantinedEntry[] =>
      list.all(limit).map((row) => ({
        id: String(row['id']),
        receivedAt: Number(row['received_at']),
        reason: String(row['reason']),
        body: String(row['body']),
      })),
    releaseQuarantined: (id: string) => void remove.run(id),
    countQuarantined: countEntries,
  };
}
