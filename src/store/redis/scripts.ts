import { CLOCK_TOLERANCE_MS, OF_SUBJECT_LIMIT, TIMES_KEPT } from '../event-log.ts';
import type { Run } from './connection.ts';

/** One hash tag for all keys: a script may touch any of them, in a cluster too. */
export const PREFIX = '{partner-graph}:';

export const names = {
  epoch: `${PREFIX}epoch`,
  newest: `${PREFIX}newest`,
  events: `${PREFIX}events`,
  quarantine: `${PREFIX}quarantine`,
  checked: `${PREFIX}checked`,
  transaction: `${PREFIX}transaction`,
  repaired: `${PREFIX}repaired`,
  ofSubject: (subject: string) => `${PREFIX}subject:${subject}`,
  fact: (key: string) => `${PREFIX}fact:${key}`,
  bus: (database: string) => `${PREFIX}bus:${database}`,
};

/** EVAL and not EVALSHA: a restarted server has no cached scripts, and no command is sent twice here. */
export const runScript = <Reply>(
  run: Run,
  source: string,
  keys: string[],
  args: readonly (string | number)[],
): Promise<Reply> =>
  run((redis) => redis.eval(source, { keys, arguments: args.map(String) }) as Promise<Reply>);

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
export const pageScript = `${HEAD}
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

/**
 * Options: windowMs, subjectMs, replicated, events. XADD comes before the key, so that no failure leaves a key
 * without its event.
 */
export const appendScript = `${HEAD}
  -- The times to keep for the key, or nil for a copy.
  local function accepted(known, time)
    if not known then return time end
    if time == '' or ('\\n' .. known .. '\\n'):find('\\n' .. time .. '\\n', 1, true) then return nil end
    local times = {}
    for each in (known .. '\\n' .. time):gmatch('[^\\n]+') do times[#times + 1] = each end
    return table.concat(times, '\\n', math.max(1, #times - ${TIMES_KEPT - 1}))
  end

  local positions = {}
  local before = newest
  for _, event in ipairs(options.events) do
    local key = '${PREFIX}seen:' .. event.key
    local times = accepted(redis.call('GET', key), event.time or '')
    if times then
      newest = newest + 1
      stamp = event.receivedAt
      redis.call('XADD', KEYS[3], newest .. '-0', 'r', event.receivedAt, 'b', event.body)
      redis.call('SET', key, times, 'PX', options.windowMs)
      if event.subject then
        local subject = '${PREFIX}subject:' .. event.subject
        redis.call('RPUSH', subject, newest)
        redis.call('LTRIM', subject, -${OF_SUBJECT_LIMIT}, -1)
        redis.call('PEXPIRE', subject, options.subjectMs)
      end
    end
    positions[#positions + 1] = times and newest or 0
  end
  if newest > before then
    redis.call('SET', KEYS[2], newest)
  elseif options.replicated then
    -- WAIT waits for this connection's own writes, and copies are promised durable, too.
    redis.call('SET', '${PREFIX}barrier', 1)
  end
  return { epoch, newest, stamp, positions }
`;

/** KEYS: subject, events. ARGV: limit. The newest events that are still there. */
export const subjectScript = `
  local found = {}
  for _, position in ipairs(redis.call('LRANGE', KEYS[1], -ARGV[1], -1)) do
    local entry = redis.call('XRANGE', KEYS[2], position .. '-0', position .. '-0')[1]
    if entry then found[#found + 1] = { tonumber(position), entry[2][2], entry[2][4] } end
  end
  return found
`;

export const TRIM_BATCH = 500;

/**
 * KEYS: events. ARGV: retention, the time where it is not the server's. Removes the oldest events that are past
 * retention, only a run from the start: the log has no holes. Answers how many.
 */
export const trimScript = `
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
