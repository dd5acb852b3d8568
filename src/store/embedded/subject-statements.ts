import type { DatabaseSync } from 'node:sqlite';
import { storedEvent } from './event-statements.ts';

const EVENTS_LIMIT = 1_000;
/** How many events may wait to be indexed; read through when the store opens. */
const INDEX_BEHIND = 8_192;

/**
 * Subjects are random, so each index entry alone would dirty a page of its own. They are indexed
 * behind, some thousands at a time and sorted; until then memory knows where they are.
 */
export function subjectStatements(db: DatabaseSync) {
  const indexed = db.prepare("SELECT value FROM meta WHERE name = 'indexed'");
  const unindexed = db.prepare(
    'SELECT subject, position FROM event WHERE position > ? AND subject IS NOT NULL',
  );
  const index = db.prepare(
    `INSERT INTO event_of_subject
     SELECT subject, position FROM event WHERE position > ? AND subject IS NOT NULL ORDER BY subject`,
  );
  const setIndexed = db.prepare(
    "UPDATE meta SET value = (SELECT max(position) FROM event) WHERE name = 'indexed'",
  );
  const found = db.prepare(
    `SELECT position FROM event_of_subject WHERE subject = ? ORDER BY position DESC LIMIT ${EVENTS_LIMIT}`,
  );
  // With its subject: a position that memory has from a failed commit belongs to another event now.
  const event = db.prepare(
    'SELECT position, received_at, body FROM event WHERE position = ? AND subject = ?',
  );

  let behind: Map<string, number[]> | undefined;
  let count = 0;

  const indexedTo = () => Number(indexed.get()?.['value']);

  function remember(to: Map<string, number[]>, subject: string, position: number) {
    const positions = to.get(subject);
    if (positions) positions.push(position);
    else to.set(subject, [position]);
    count++;
  }

  function readBehind() {
    const read = new Map<string, number[]>();
    count = 0;
    for (const row of unindexed.iterate(indexedTo())) {
      remember(read, String(row['subject']), Number(row['position']));
    }
    return read;
  }

  return {
    indexSubject(subject: string, position: number): void {
      behind ??= readBehind();
      remember(behind, subject, position);
      if (count < INDEX_BEHIND) return;
      index.run(indexedTo());
      setIndexed.run();
      // Read anew when needed: if this commit fails, nothing has been indexed after all.
      behind = undefined;
    },
    eventsOfSubject(subject: string) {
      behind ??= readBehind();
      const positions = found.all(subject).map((row) => Number(row['position']));
      const all = new Set([...positions.toReversed(), ...(behind.get(subject) ?? [])]);
      return [...all]
        .slice(-EVENTS_LIMIT)
        .map((position) => event.get(position, subject))
        .filter((row) => row !== undefined)
        .map(storedEvent);
    },
  };
}
