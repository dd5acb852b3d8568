import { createBatches } from '../batches.ts';
import {
  type EventLog,
  type LogPage,
  type NewEvent,
  OF_SUBJECT_LIMIT,
  type StoredEvent,
  dedupeWindowMs,
} from '../event-log.ts';
import type { RedisConnection, Run } from './connection.ts';
import {
  TRIM_BATCH,
  appendScript,
  names,
  pageScript,
  runScript,
  subjectScript,
  trimScript,
} from './scripts.ts';
import type { Writer } from './writer.ts';

interface Parts {
  readonly writer: Writer;
  readonly reader: RedisConnection;
  /** A separate connection, since XREAD blocks it. */
  readonly tail: RedisConnection;
  readonly retentionMs: number;
  /** Set by tests only: the server's time is the same for all instances. */
  readonly clock: (() => number) | undefined;
}

type Head = readonly [epoch: string, newest: number, stamp: string];
type Entry = readonly [position: number, receivedAt: string, body: string];
type PageReply = readonly [...Head, oldest: number, entries: readonly Entry[]];
type AppendReply = readonly [...Head, positions: readonly number[]];

const LOG_KEYS = [names.epoch, names.newest, names.events];
/** A script blocks the whole server while it runs. */
const MAX_APPENDS = 200;
/** A subject's list may outlive its last event; entries that are gone are skipped. */
const SUBJECT_GRACE_MS = 3_600_000;
/**
 * XREAD does not return the events of a log that began again, since their positions are lower. So the log is checked
 * this often.
 */
const LOOK_AGAIN_MS = 1_000;
const LOOK_GRACE_MS = 3_000;
/** More failovers than happen while an instance runs. */
const MAX_FORMER_EPOCHS = 20;

const eventOf = ([position, receivedAt, body]: Entry): StoredEvent => ({
  position,
  receivedAt: Number(receivedAt),
  body,
});

export async function openRedisLog({ writer, reader, tail, retentionMs, clock }: Parts) {
  // The state of the shared log, as last seen.
  let [epoch, newest, stamp] = ['', 0, ''];
  const formerEpochs = new Set<string>();

  /** Sends the last seen state, so that the script can detect a lost log. */
  async function runOnLog<Reply extends readonly [...Head, ...unknown[]]>(
    run: Run,
    script: string,
    options: object,
  ): Promise<Reply> {
    const former = [...formerEpochs].slice(-MAX_FORMER_EPOCHS).join(' ');
    const known = { epoch, newest, stamp, former, fresh: crypto.randomUUID() };
    const args = [JSON.stringify(known), JSON.stringify(options)];
    const reply = await runScript<Reply>(run, script, LOG_KEYS, args);
    learn(reply);
    return reply;
  }

  function learn([current, top, stampOfTop]: readonly [...Head, ...unknown[]]): void {
    // Replies of several connections come in any order: a late one must not bring an old log back.
    if (formerEpochs.has(current)) return;
    if (current === epoch && top <= newest) return;
    if (current !== epoch && epoch !== '') formerEpochs.add(epoch);
    [epoch, newest, stamp] = [current, top, stampOfTop];
  }

  async function read(after: number, limit: number): Promise<LogPage> {
    const reply = await runOnLog<PageReply>(reader.run, pageScript, { after, limit });
    const [current, top, , oldest, entries] = reply;
    return { epoch: current, newest: top, oldest, events: entries.map(eventOf) };
  }

  async function appendGroup(group: readonly (readonly NewEvent[])[]) {
    const events = group.flat();
    const [, , , positions] = await runOnLog<AppendReply>(writer.write, appendScript, {
      windowMs: dedupeWindowMs(retentionMs),
      subjectMs: retentionMs + SUBJECT_GRACE_MS,
      replicated: writer.replicated,
      // As text: a script's numbers are not exact.
      events: events.map((event) => ({ ...event, receivedAt: String(event.receivedAt) })),
    });
    const stored = events.map(({ receivedAt, body }, i) => {
      const position = positions[i] ?? 0;
      return position > 0 ? { position, receivedAt, body } : undefined;
    });
    let at = 0;
    return group.map(({ length }) => stored.slice(at, (at += length)));
  }
  const appends = createBatches(appendGroup, MAX_APPENDS);

  await read(0, 0);
  const log: EventLog = {
    append: async (events) => (events.length > 0 ? appends.call(events) : []),
    read,
    bounds: () => read(0, 0),
    // Only wakes the reader, which then reads a page.
    changed(position) {
      const after = { key: names.events, id: `${position}-0` };
      const options = { COUNT: 1, BLOCK: LOOK_AGAIN_MS };
      return tail.run((redis) => redis.xRead(after, options), LOOK_AGAIN_MS + LOOK_GRACE_MS);
    },
    async ofSubject(subject, limit = OF_SUBJECT_LIMIT) {
      const keys = [names.ofSubject(subject), names.events];
      return (await runScript<Entry[]>(reader.run, subjectScript, keys, [limit])).map(eventOf);
    },
    async trim() {
      let trimmed = TRIM_BATCH;
      while (trimmed === TRIM_BATCH) {
        const args = [retentionMs, clock?.() ?? ''];
        trimmed = await runScript(reader.run, trimScript, [names.events], args);
      }
    },
  };
  return { log, drained: appends.drained };
}
