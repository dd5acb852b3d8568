import type { DatabaseSync } from 'node:sqlite';
import { withStamp } from './indexes.ts';
import type { Indexes, Seen } from './indexes.ts';

/** Key, arming names, stamp, time of receipt, subject, body; one after another for each event, '' for none. */
export type FlatEvents = readonly (string | number)[];
const FLAT_LENGTH = 6;
type Flat = [string, string, string, number, string, string];

const SWEEP_BATCH = 1_000;

/** Runs within the worker's transaction, one call after another: what it reads can't change under it. */
export function appendStatements(db: DatabaseSync, indexes: Indexes) {
  const addEvent = db.prepare(
    'INSERT INTO event (position, received_at, body, subject, key, stamp, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const arm = db.prepare(
    `INSERT INTO armed VALUES (:note, 1, :now) ON CONFLICT (note)
     DO UPDATE SET count = iif(at < :since, 1, count + 1), at = :now`,
  );
  const armed = db.prepare('SELECT count FROM armed WHERE note = ? AND at >= ?');
  const disarm = db.prepare('UPDATE armed SET count = count - 1 WHERE note = ? AND count > 0');
  const removeSpent = db.prepare('DELETE FROM armed WHERE count <= 0 OR at < ?');
  const keysFrom = db.prepare(
    `SELECT key, at FROM seen WHERE key > ? ORDER BY key LIMIT ${SWEEP_BATCH}`,
  );
  const removeKey = db.prepare('DELETE FROM seen WHERE key = ?');
  let sweptTo = '';

  /** What to remember of an event that is to be accepted; undefined for a copy. */
  function accepted(key: string, armedBy: string, stamp: string, now: number, since: number) {
    const known = indexes.seen(key);
    const fresh: Seen = { at: now, stamps: stamp };
    if (!known || known.at < since) return fresh;
    if (known.stamps.split('\n').includes(stamp)) return undefined;
    const isArmed = (name: string) => Number(armed.get(name, since)?.['count'] ?? 0) > 0;
    const arming = armedBy.split(' ').find(isArmed);
    if (arming === undefined) return undefined;
    disarm.run(arming);
    return { at: now, stamps: withStamp(known.stamps, stamp) };
  }

  return {
    /** The position of each event, 0 for a copy. Keys last seen before `since` are as good as unseen. */
    append(events: FlatEvents, now: number, since: number): readonly number[] {
      const positions: number[] = [];
      for (let at = 0; at < events.length; at += FLAT_LENGTH) {
        const event = events.slice(at, at + FLAT_LENGTH) as Flat;
        const [key, armedBy, stamp, receivedAt, subject, body] = event;
        const seen = accepted(key, armedBy, stamp, now, since);
        if (!seen) {
          positions.push(0);
          continue;
        }
        const position = indexes.newest() + 1;
        addEvent.run(position, receivedAt, body, subject || null, key, stamp, now);
        indexes.add(position, subject, key, seen);
        positions.push(position);
      }
      return positions;
    },
    arm: (note: string, now: number, since: number) => void arm.run({ note, now, since }),
    disarm: (note: string) => void disarm.run(note),
    /** Looks at some keys more, round and round. Answers whether it has not come to the end yet. */
    sweepKeys(since: number): boolean {
      removeSpent.run(since);
      const rows = keysFrom.all(sweptTo);
      for (const row of rows) if (Number(row['at']) < since) removeKey.run(String(row['key']));
      sweptTo = rows.length < SWEEP_BATCH ? '' : String(rows.at(-1)?.['key']);
      return sweptTo !== '';
    },
  };
}
