import { createBatches } from '../batches.ts';
import type { EventLog, NewEvent, StoredEvent } from '../store.ts';
import { CLOCK_TOLERANCE_MS, MARK_MS, OF_SUBJECT_LIMIT, dedupeWindowMs } from '../store.ts';
import { PREFIX, type RedisConnection, type Run } from './connection.ts';

type Entry = readonly [id: string, fields: readonly ['r', receivedAt: string, 'b', body: string]];

const LOG_KEYS = ['epoch', 'newest', 'events'];

const eventOf = ([id, [, receivedAt, , body]]: Entry): StoredEvent => ({
  position: Number.parseInt(id, 10),
  receivedAt: Number(receivedAt),
  body,
});

export function createRedisLog(connection: RedisConnection, retentionMs: number): EventLog {
  /** The channel that notifies instances of each other's events. */
  const channel = `${PREFIX}appended:${connection.database}`;
  /** The state of the shared log, as last seen. `stamp` is when its newest event was received. */
  let seen = { epoch: '', newest: 0, stamp: '' };
  const formerEpochs = new Set<string>();
  let changed = Promise.withResolvers<void>();
  /** The position in the last message. Only a hint: it may be of another server than the next read. */
  let announced = 0;

  /** Sends the last seen state, so that the script can detect a lost log. Resolves to the present state and a result. */
  async function runOnLog<Result>(script: string, options: object, run: Run = connection.run) {
    const known = { ...seen, former: [...formerEpochs].join(' '), fresh: crypto.randomUUID() };
    const args = [JSON.stringify(known), JSON.stringify(options)];
    // EVAL and not EVALSHA: a restarted server has no cached scripts, and no command is sent twice here.
    const answer = await run((redis) => redis.eval(script, { keys: LOG_KEYS, arguments: args }));
    const reply = answer as unknown as readonly [[string, newest: number, string], Result];
    const [epoch, newest, stamp] = reply[0];
    const isOther = epoch !== seen.epoch;
    // Replies of the two sockets come in any order: a late one must not bring an old log back.
    if (!formerEpochs.has(epoch) && (isOther || newest > seen.newest)) {
      if (isOther) formerEpochs.add(seen.epoch);
      seen = { epoch, newest, stamp };
      wakeReaders();
    }
    return reply;
  }

  function wakeReaders(): void {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  connection.subscribe(channel, (position) => {
    announced = Number(position);
    wakeReaders();
  });

  async function read(after: number, limit: number) {
    type Page = readonly [oldest: number, entries: readonly Entry[]];
    announced = 0;
    const [[epoch, newest], page] = await runOnLog<Page>(pageScript, { after, limit });
    return { epoch, newest, oldest: page[0], events: page[1].map(eventOf) };
  }

  // 200 at once: a script blocks the whole server while it runs.
  const appends = createBatches(async (events: readonly NewEvent[]) => {
    const options = {
      windowMs: dedupeWindowMs(retentionMs),
      // A subject's list may outlive its last event; entries that are gone are skipped.
      subjectMs: retentionMs + 3_600_000,
      channel,
      // As text: a script's numbers are not exact.
      events: events.map((event) => ({ ...event, receivedAt: String(event.receivedAt) })),
    };
    return (await runOnLog<readonly number[]>(appendScript, options, connection.runDurably))[1];
  }, 200);

  return {
    append: (events) => Promise.all(events.map(appends.call)),
    read,
    bounds: () => read(0, 0),
    async changed(position) {
      if (position < Math.max(seen.newest, announced)) return;
      // A message may be lost, and none is sent for a log that was flushed. So the log is checked this often.
      const lookAgain = setTimeout(wakeReaders, 1_000).unref();
      await changed.promise;
      clearTimeout(lookAgain);
    },
    async ofSubject(subject, limit) {
      const [, entries] = await runOnLog<readonly Entry[]>(subjectScript, { subject, limit });
      return entries.map(eventOf);
    },
    async trim() {
      while ((await runOnLog<number>(trimScript, { retentionMs }))[1] === TRIM_BATCH);
    },
  };
}

/**
 * KEYS: epoch, newest, events. ARGV, as JSON: what the caller knows of the log (its epoch, its newest position and when
 * that event was received, former epochs), with a fresh epoch; the script's own options. The log gets the fresh epoch,
 * since positions are about to be used again, if it is gone; if it is shorter than the caller has seen it (an old copy
 * took over); if it has another event at that position (other instances have appended to the copy already); or if its
 * epoch is a former one (an even older copy took over).
 */
const HEAD = `
  local known = cjson.decode(ARGV[1])
  local options = cjson.decode(ARGV[2])
  local function positionOf(entry) return tonumber(entry[1]:match('^%d+')) end
  local epoch = redis.call('GET', KEYS[1])
  local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
  local top = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1]
  local stamp = top and top[2][2] or ''
  if top then newest = math.max(newest, positionOf(top)) end
  local function replaced()
    if newest < known.newest then return true end
    local id = known.newest .. '-0'
    local entry = known.stamp ~= '' and redis.call('XRANGE', KEYS[3], id, id)[1]
    return entry and entry[2][2] ~= known.stamp
  end
  if not epoch or known.former:find(epoch, 1, true) or (epoch == known.epoch and replaced()) then
    epoch = known.fresh
    redis.call('SET', KEYS[1], epoch)
  end
`;

/** Options: after, limit. Answers oldest and entries, of the same moment as the state. */
const pageScript = `${HEAD}
  local first = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)[1]
  local oldest = first and positionOf(first) - 1 or newest
  local after = '(' .. options.after .. '-0'
  -- For COUNT 0, Redis answers null.
  local entries = redis.call('XRANGE', KEYS[3], after, '+', 'COUNT', options.limit) or {}
  return { { epoch, newest, stamp }, { oldest, entries } }
`;

/** Options: windowMs, subjectMs, channel, events. The key comes last: no failure leaves one without its mark or event. */
const appendScript = `${HEAD}
  local positions = {}
  local before = newest
  for _, event in ipairs(options.events) do
    local key = '${PREFIX}seen:' .. event.key
    local withTime = event.time and key .. ' ' .. event.time
    local isNew = redis.call('EXISTS', withTime or key) == 0
    if isNew then
      if event.mark then redis.call('SET', '${PREFIX}fact:' .. event.mark, '', 'PX', ${MARK_MS}) end
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
  if newest > before then redis.call('PUBLISH', options.channel, newest) end
  return { { epoch, newest, stamp }, positions }
`;

/** Options: subject, limit. Answers the newest events of the subject that are still there. */
const subjectScript = `${HEAD}
  local found = {}
  local key = '${PREFIX}subject:' .. options.subject
  for _, position in ipairs(redis.call('LRANGE', key, -options.limit, -1)) do
    local id = position .. '-0'
    found[#found + 1] = redis.call('XRANGE', KEYS[3], id, id)[1]
  end
  return { { epoch, newest, stamp }, found }
`;

const TRIM_BATCH = 500;

/**
 * Options: retentionMs. By the server's clock, which is the same for all instances, removes the oldest events that are
 * past retention, only a run from the start: the log has no holes. Answers how many.
 */
const trimScript = `${HEAD}
  local now = redis.call('TIME')[1] * 1000
  local entries = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', ${TRIM_BATCH})
  local expired = 0
  for at, entry in ipairs(entries) do
    local receivedAt = tonumber(entry[2][2])
    if receivedAt >= now - options.retentionMs and receivedAt <= now + ${CLOCK_TOLERANCE_MS} then break end
    expired = at
  end
  if expired > 0 then
    redis.call('XTRIM', KEYS[3], 'MINID', (positionOf(entries[expired]) + 1) .. '-0')
  end
  return { { epoch, newest, stamp }, expired }
`;
