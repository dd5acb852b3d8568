import type { DatabaseSync } from 'node:sqlite';

const TRIM_BATCH = 500;

export function factStatements(db: DatabaseSync) {
  const fact = db.prepare('SELECT value FROM fact WHERE key = ? AND ends_at > ?');
  const put = db.prepare('INSERT OR REPLACE INTO fact VALUES (?, ?, ?)');
  const remove = db.prepare('DELETE FROM fact WHERE key = ?');
  const trim = db.prepare(
    `DELETE FROM fact WHERE key IN (SELECT key FROM fact WHERE ends_at <= ? LIMIT ${TRIM_BATCH})`,
  );

  const valueOf = (key: string, now: number) => {
    const row = fact.get(key, now);
    return row && String(row['value']);
  };

  return {
    claim(key: string, value: string, now: number, endsAt: number): string | undefined {
      const taken = valueOf(key, now);
      if (taken === undefined) put.run(key, value, endsAt);
      return taken;
    },
    putFact: (key: string, value: string, endsAt: number) => void put.run(key, value, endsAt),
    factsOf: (keys: readonly string[], now: number) => keys.map((key) => valueOf(key, now)),
    deleteFact: (key: string) => void remove.run(key),
    /** Answers whether there may be more to remove. */
    trimFacts: (now: number) => Number(trim.run(now).changes) === TRIM_BATCH,
  };
}
