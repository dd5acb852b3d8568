import type { DatabaseSync } from 'node:sqlite';
import { STAMPS_KEPT } from '../dedupe.ts';

/** Key, arming note, stamp, time of receipt, subject, body; one after another for each event, '' for none. */
export type FlatEvents = readonly (string | number)[];
export const FLAT_EVENT_LENGTH = 6;

const TRIM_BATCH = 500;

/** Runs within the worker's transaction, one call after another: what it reads can't change under it. */
export function appendStatements(
  db: DatabaseSync,
  indexSubject: (subject: string, position: number) => void,
) {
  const addKey = db.prepare(
    'INSERT INTO seen (key, at, stamps) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING',
  );
  const seen = db.prepare('SELECT id, at, stamps FROM seen WHERE key = ?');
  const removeKey = db.prepare('DELETE FROM seen WHERE id = ?');
  const addEvent = db.prepare('INSERT INTO event (received_at, subject, body) VALUES (?, ?, ?)');
  const arm = db.prepare(
    `INSERT INTO armed VALUES (:note, 1, :now) ON CONFLICT (note)
     DO UPDATE SET count = iif(at < :since, 1, count + 1), at = :now`,
  );
  const armed = db.prepare('SELECT count FROM armed WHERE note = ? AND at >= ?');
  const disarm = db.prepare('UPDATE armed SET count = count - 1 WHERE note = ?');
  const removeSpent = db.prepare('DELETE FROM armed WHERE count <= 0 OR at < ?');
  const removeOldKeys = db.prepare(
    `DELETE FROM seen WHERE id IN (SELECT id FROM seen ORDER BY id LIMIT ${TRIM_BATCH}) AND at < ?`,
  );

  /** The stamps to remember if the event is to be accepted although its key is there. */
  function acceptedAgain(key: string, armedBy: string, stamp: string, since: number) {
    const known = seen.get(key);
    if (!known) return undefined;
    const id = Number(known['id']);
    if (Number(known['at']) < since) return { id, stamps: stamp };
    const stamps = String(known['stamps']).split('\n');
    const count = armedBy && !stamps.includes(stamp) ? armed.get(armedBy, since)?.['count'] : 0;
    if (Number(count ?? 0) <= 0) return undefined;
    disarm.run(armedBy);
    return { id, stamps: [...stamps, stamp].slice(-STAMPS_KEPT).join('\n') };
  }

  function isNew(key: string, armedBy: string, stamp: string, now: number, since: number) {
    if (addKey.run(key, now, stamp).changes === 1) return true;
    const again = acceptedAgain(key, armedBy, stamp, since);
    if (!again) return false;
    removeKey.run(again.id);
    addKey.run(key, now, again.stamps);
    return true;
  }

  return {
    /** The position of each event, 0 for a copy. Keys last seen before `since` are as good as unseen. */
    append(events: FlatEvents, now: number, since: number): readonly number[] {
      const positions: number[] = [];
      for (let at = 0; at < events.length; at += FLAT_EVENT_LENGTH) {
        const [key, armedBy, stamp, receivedAt, subject, body] = events.slice(
          at,
          at + FLAT_EVENT_LENGTH,
        ) as [string, string, string, number, string, string];
        if (!isNew(key, armedBy, stamp, now, since)) {
          positions.push(0);
          continue;
        }
        const added = addEvent.run(receivedAt, subject || null, body);
        positions.push(Number(added.lastInsertRowid));
        if (subject) indexSubject(subject, Number(added.lastInsertRowid));
      }
      return positions;
    },
    arm: (note: string, now: number, since: number) => void arm.run({ note, now, since }),
    disarm: (note: string) => void disarm.run(note),
    /** Answers whether there may be more to remove. */
    trimKeys(since: number): boolean {
      removeSpent.run(since);
      return Number(removeOldKeys.run(since).changes) === TRIM_BATCH;
    },
  };
}
