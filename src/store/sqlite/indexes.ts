import type { DatabaseSync } from 'node:sqlite';
import { STAMPS_KEPT } from '../dedupe.ts';

/** When a key was last accepted, and the time stamps it was accepted with, one a line. */
export interface Seen {
  readonly at: number;
  readonly stamps: string;
}

export interface Indexes {
  seen(key: string): Seen | undefined;
  /** The last position that was given to an event, whether the event is still kept or not. */
  newest(): number;
  /** Tells of an event that was just inserted. */
  add(position: number, subject: string, key: string, seen: Seen): void;
  positionsOf(subject: string): readonly number[];
  /** Writes what is in memory only, if the position is past what has been written. */
  write(position: number): void;
  /** To be called after a rollback: memory then knows of events that never were. */
  forget(): void;
}

interface Unwritten {
  readonly keys: Map<string, Seen>;
  readonly subjects: Map<string, number[]>;
  count: number;
  newest: number;
}

/** How many events may wait to be indexed. As many are read through when the store opens. */
const WRITE_BEHIND = 8_192;
const POSITIONS_LIMIT = 1_000;

export const withStamp = (stamps: string, stamp: string) =>
  [...stamps.split('\n'), stamp].slice(-STAMPS_KEPT).join('\n');

/**
 * Keys and subjects are random: written one by one, each would dirty a page of its own. So they are
 * written behind, thousands at a time and sorted. Nothing hangs on it: the events have them, too.
 */
export function createIndexes(db: DatabaseSync): Indexes {
  const writtenTo = db.prepare("SELECT value FROM meta WHERE name = 'indexed'");
  const setWrittenTo = db.prepare("UPDATE meta SET value = ? WHERE name = 'indexed'");
  const rowsAfter = db.prepare(
    'SELECT position, subject, key, stamp, at FROM event WHERE position > ? ORDER BY position',
  );
  const key = db.prepare('SELECT at, stamps FROM seen WHERE key = ?');
  const putKey = db.prepare('INSERT OR REPLACE INTO seen VALUES (?, ?, ?)');
  const putSubjects = db.prepare(
    `INSERT INTO event_of_subject
     SELECT subject, position FROM event WHERE position > ? AND subject IS NOT NULL ORDER BY subject`,
  );
  const positions = db.prepare(
    `SELECT position FROM event_of_subject WHERE subject = ? ORDER BY position DESC LIMIT ${POSITIONS_LIMIT}`,
  );
  let current: Unwritten | undefined;

  const indexedTo = () => Number(writtenTo.get()?.['value']);

  function writtenKey(name: string): Seen | undefined {
    const row = key.get(name);
    return row && { at: Number(row['at']), stamps: String(row['stamps']) };
  }

  function remember(to: Unwritten, position: number, subject: string, name: string, seen: Seen) {
    to.keys.set(name, seen);
    to.count++;
    to.newest = position;
    if (!subject) return;
    const ofSubject = to.subjects.get(subject);
    if (ofSubject) ofSubject.push(position);
    else to.subjects.set(subject, [position]);
  }

  function readUnwritten(): Unwritten {
    const from = indexedTo();
    const read: Unwritten = { keys: new Map(), subjects: new Map(), count: 0, newest: from };
    for (const row of rowsAfter.all(from)) {
      const name = String(row['key']);
      const stamp = String(row['stamp']);
      const before = read.keys.get(name) ?? writtenKey(name);
      const stamps = before ? withStamp(before.stamps, stamp) : stamp;
      const seen = { at: Number(row['at']), stamps };
      remember(read, Number(row['position']), String(row['subject'] ?? ''), name, seen);
    }
    return read;
  }

  const unwritten = () => (current ??= readUnwritten());

  function writeAll() {
    const { keys, newest } = unwritten();
    for (const name of [...keys.keys()].toSorted()) {
      const seen = keys.get(name);
      if (seen) putKey.run(name, seen.at, seen.stamps);
    }
    putSubjects.run(indexedTo());
    setWrittenTo.run(String(newest));
    current = undefined;
  }

  return {
    newest: () => unwritten().newest,
    seen: (name) => unwritten().keys.get(name) ?? writtenKey(name),
    add(position, subject, name, seen) {
      remember(unwritten(), position, subject, name, seen);
      if (unwritten().count >= WRITE_BEHIND) writeAll();
    },
    positionsOf(subject) {
      const written = positions.all(subject).map((row) => Number(row['position']));
      const all = [...written.toReversed(), ...(unwritten().subjects.get(subject) ?? [])];
      return all.slice(-POSITIONS_LIMIT);
    },
    write(position) {
      if (position > indexedTo()) writeAll();
    },
    forget: () => (current = undefined),
  };
}
