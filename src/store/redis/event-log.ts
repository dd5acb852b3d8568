import { setTimeout as delay } from 'node:timers/promises';

import { createBatches } from '../batches.ts';
import {
  CLOCK_TOLERANCE_MS,
  type EventLog,
  type LogPage,
  type NewEvent,
  OF_SUBJECT_LIMIT,
  type StoredEvent,
  dedupeWindowMs,
} from '../event-log.ts';
import type { StoreSettings } from '../store.ts';
import type { RedisConnection, Run } from './connection.ts';
import { PREFIX, names } from './names.ts';

type Head = readonly [epoch: string, newest: number, stamp: string];
type Entry = readonly [position: number, receivedAt: string, body: string];
type PageReply = readonly [...Head, oldest: number, entries: readonly Entry[]];
type AppendReply = readonly [...Head, positions: readonly number[]];

const LOG_KEYS = [names.epoch, names.newest, names.events];
/** A script blocks the whole server while it runs. */
const MAX_APPENDS = 200;
/** A subject's list may outlive its last event; entries that are gone are skipped. */
const SUBJECT_GRACE_MS = 3_600_000;
/** A message may be lost, and none is sent for a log that was flushed. So the log is checked this often. */
const LOOK_AGAIN_MS = 1_000;

/** EVAL and not EVALSHA: a restarted server has no cached scripts, and no command is sent twice here. */
const runScript = <Reply>(
  run: Run,
  source: string,
  keys: string[],
  args: readonly (string | number)[],
): Promise<Reply> =>
  run((redis) => redis.eval(source, { keys, arguments: args.map(String) }) as Promise<Reply>);

const eventOf = ([position, receivedAt, body]: Entry): StoredEvent => ({
  position,
  receivedAt: Number(receivedAt),
  body,
});

/** On `channel`, instances learn of each other's events. */
export function createRedisLog(
  connection: RedisConnection,
  channel: string,
  { retentionMs, clock }: StoreSettings,
): EventLog {
  // The state of the shared log, as last seen.
  let [epoch, newest, stamp] = ['', 0, ''];
  const formerEpochs = new Set<string>();
  let changed = Promise.withResolvers<void>();

  /** Sends the last seen state, so that the script can detect a lost log. */
  async function runOnLog<Reply extends readonly [...Head, ...unknown[]]>(
    run: Run,
    script: string,
    options: object,
  ): Promise<Reply> {
    const former = [...formerEpochs].join(' ');
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
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  connection.subscribe(channel, (head) => learn(JSON.parse(head) as Head));

  async function read(after: number, limit: number): Promise<LogPage> {
    const reply = await runOnLog<PageReply>(connection.read, pageScript, { after, limit });
    const [current, top, , oldest, entries] = reply;
    return { epoch: current, newest: top, oldest, events: entries.map(eventOf) };
  }

  async function appendAll(events: readonly NewEvent[]) {
    const [, , , positions] = await runOnLog<AppendReply>(connection.write, appendScript, {
      windowMs: dedupeWindowMs(retentionMs),
      subjectMs: retentionMs + SUBJECT_GRACE_MS,
      channel,
      // As text: a script's numbers are not exact.
      events: events.map((event) => ({ ...event, receivedAt: String(event.receivedAt) })),
    });
    return events.map(({ receivedAt, body }, i) => {
      const position = positions[i] ?? 0;
      return position > 0 ? { position, receivedAt, body } : undefined;
    });
  }
  const appends = createBatches(appendAll, MAX_APPENDS);

  return {
    append: (events) => Promise.all(events.map(appends.call)),
    read,
    bounds: () => read(0, 0),
    async changed(position) {
      if (position < newest) return;
      const lookAgain = delay(LOOK_AGAIN_MS, undefined, { ref: false });
      await Promise.race([changed.promise, lookAgain]);
    },
    async ofSubject(subject, limit = OF_SUBJECT_LIMIT) {
      const keys = [names.ofSubject(subject), names.events];
      return (await runScript<Entry[]>(connection.read, subjectScript, keys, [limit])).map(eventOf);
    },
    async trim() {
      let trimmed = TRIM_BATCH;
      while (trimmed === TRIM_BATCH) {
        // Only tests have a clock: the server's time is the same for all instances.
        const args = [retentionMs, clock?.() ?? ''];
        trimmed = await runScript(connection.read, trimScript, [names.events], args);
      }
    },
  };
}

/**
 * KEYS: epoch, newest, events. ARGV, as JSON: what the caller knows of the log (its epoch, its newest position and when
 * that event was received, epochs that are over) with a fresh epoch to begin with; the script's own options. A log that
 * is gone, or shorter than the caller has seen it (an old copy took over), or has another event in that place (and other
 * instances were faster), or has an epoch that is over (an even older copy), is another log from here on: its positions
 * would be given a second time.
 */
const HEAD = `
  local known = cjson.decode(ARGV[1])
  local options = cjson.decode(ARGV[2])
  local epoch = redis.call('GET', KEYS[1])
  local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
  local top = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1]
  local stamp = ''
  if top then
    newest = math.max(newest, tonumber(top[1]:match('^%d+')))
    stamp = top[2][2]
  end
  local function replaced()
    if newest < known.newest then return true end
    local id = known.newest .. '-0'
    local entry = known.stamp ~= '' and redis.call('XRANGE', KEYS[3], id, id)[1]
    return entry and entry[2][2] ~= known.stamp
  end
  local over = epoch and known.former:find(epoch, 1, true)
  if not epoch or over or (epoch == known.epoch and replaced()) then
    epoch = known.fresh
    redis.call('SET', KEYS[1], epoch)
  end
`;

/** Options: after, limit. Answers epoch, newest, its time, oldest and entries as one consistent look. */
const pageScript = `${HEAD}
  local first = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)[1]
  local oldest = first and tonumber(first[1]:match('^%d+')) - 1 or newest
  local entries = {}
  if options.limit > 0 then
    local after = '(' .. options.after .. '-0'
    for i, entry in ipairs(redis.call('XRANGE', KEYS[3], after, '+', 'COUNT', options.limit)) do
      entries[i] = { tonumber(entry[1]:match('^%d+')), entry[2][2], entry[2][4] }
    end
  end
  return { epoch, newest, stamp, oldest, entries }
`;

/** Options: windowMs, subjectMs, channel, events. XADD comes before the key: no failure leaves a key without its event. */
const appendScript = `${HEAD}
  local positions = {}
  local before = newest
  for _, event in ipairs(options.events) do
    local key = '${PREFIX}seen:' .. event.key
    local withTime = event.time and key .. ' ' .. event.time
    local isNew = redis.call('EXISTS', withTime or key) == 0
    if isNew then
      newest = newest + 1
      stamp = event.receivedAt
      redis.call('XADD', KEYS[3], newest .. '-0', 'r', event.receivedAt, 'b', event.body)
      redis.call('SET', key, '', 'PX', options.windowMs)
      if withTime then redis.call('SET', withTime, '', 'PX', options.windowMs) end
      if event.subject then
        local subject = '${PREFIX}subject:' .. event.subject
        redis.call('RPUSH', subject, newest)
        redis.call('LTRIM', subject, -${OF_SUBJECT_LIMIT}, -1)
        redis.call('PEXPIRE', subject, options.subjectMs)
      end
    end
    positions[#positions + 1] = isNew and newest or 0
  end
  -- For copies, too: they are promised durable, and WAIT waits only for this connection's own writes.
  redis.call('SET', KEYS[2], newest)
  if newest > before then
    redis.call('PUBLISH', options.channel, cjson.encode({ epoch, newest, stamp }))
  end
  return { epoch, newest, stamp, positions }
`;

/** KEYS: subject, events. ARGV: limit. The newest events that are still there. */
const subjectScript = `
  local found = {}
  for _, position in ipairs(redis.call('LRANGE', KEYS[1], -ARGV[1], -1)) do
    local entry = redis.call('XRANGE', KEYS[2], position .. '-0', position .. '-0')[1]
    if entry then found[#found + 1] = { tonumber(position), entry[2][2], entry[2][4] } end
  end
  return found
`;

const TRIM_BATCH = 500;

/**
 * KEYS: events. ARGV: retention, the time where it is not the server's. Removes the oldest events that are past
 * retention, only a run from the start: the log has no holes. Answers how many.
 */
const trimScript = `
  local time = redis.call('TIME')
  local now = tonumber(ARGV[2]) or time[1] * 1000 + math.floor(time[2] / 1000)
  local entries = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ${TRIM_BATCH})
  local expired = 0
  for at, entry in ipairs(entries) do
    local receivedAt = tonumber(entry[2][2])
    if receivedAt >= now - ARGV[1] and receivedAt <= now + ${CLOCK_TOLERANCE_MS} then break end
    expired = at
  end
  if expired > 0 then
    local last = tonumber(entries[expired][1]:match('^%d+'))
    redis.call('XTRIM', KEYS[1], 'MINID', (last + 1) .. '-0')
  end
  return expired
`;
