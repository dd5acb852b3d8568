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

export type Send = <Reply>(args: readonly string[]) => Promise<Reply>;

/** EVAL and not EVALSHA: a server that was restarted does not know a hash, and nothing is ever sent twice here. */
export const runScript = <Reply>(
  send: Send,
  source: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> => send(['EVAL', source, String(keys.length), ...keys, ...args.map(String)]);

/**
 * KEYS: epoch, newest, events. ARGV: the epoch the caller knows, the newest position it knows, an
 * epoch to begin with, when that newest event was received, epochs that the caller has left. A log that
 * is gone, or shorter than the caller has seen it (an old copy took over), or has another event in that
 * place (and other instances were faster), or has an epoch that is over (an even older copy), is another
 * log from here on: its positions would be given a second time.
 */
const HEAD = `
  local epoch = redis.call('GET', KEYS[1])
  local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
  local top = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1]
  local stamp = ''
  if top then
    newest = math.max(newest, tonumber(top[1]:match('^%d+')))
    stamp = top[2][2]
  end
  local function replaced()
    if newest < tonumber(ARGV[2]) then return true end
    local known = ARGV[4] ~= '' and redis.call('XRANGE', KEYS[3], ARGV[2] .. '-0', ARGV[2] .. '-0')[1]
    return known and known[2][2] ~= ARGV[4]
  end
  local over = epoch and ARGV[5]:find(epoch, 1, true)
  if not epoch or over or (epoch == ARGV[1] and replaced()) then
    epoch = ARGV[3]
    redis.call('SET', KEYS[1], epoch)
  end
`;

/** ARGV goes on: after, limit. Answers epoch, newest, its time, oldest and entries as one consistent look. */
export const pageScript = `${HEAD}
  local first = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 1)[1]
  local oldest = first and tonumber(first[1]:match('^%d+')) - 1 or newest
  local entries = {}
  if tonumber(ARGV[7]) > 0 then
    for i, entry in ipairs(redis.call('XRANGE', KEYS[3], '(' .. ARGV[6] .. '-0', '+', 'COUNT', ARGV[7])) do
      entries[i] = { tonumber(entry[1]:match('^%d+')), entry[2][2], entry[2][4] }
    end
  end
  return { epoch, newest, stamp, oldest, entries }
`;

export const EVENTS_AT = 11;

/**
 * ARGV goes on: window, retention, times kept, subjects kept, whether a replica is to confirm; then for
 * each event key, time, time of receipt, subject, body. XADD comes before the key, so that no failure
 * leaves a key without its event.
 */
export const appendScript = `${HEAD}
  -- The times to keep for the key, or nil for a copy.
  local function accepted(known, time)
    if not known then return time end
    if time == '' or ('\\n' .. known .. '\\n'):find('\\n' .. time .. '\\n', 1, true) then return nil end
    local times = {}
    for each in (known .. '\\n' .. time):gmatch('[^\\n]+') do times[#times + 1] = each end
    return table.concat(times, '\\n', math.max(1, #times - tonumber(ARGV[8]) + 1))
  end

  local positions = {}
  local before = newest
  for at = ${EVENTS_AT}, #ARGV, 5 do
    local key = '${PREFIX}seen:' .. ARGV[at]
    local times = accepted(redis.call('GET', key), ARGV[at + 1])
    if times then
      newest = newest + 1
      stamp = ARGV[at + 2]
      redis.call('XADD', KEYS[3], newest .. '-0', 'r', ARGV[at + 2], 'b', ARGV[at + 4])
      redis.call('SET', key, times, 'PX', ARGV[6])
      if ARGV[at + 3] ~= '' then
        local subject = '${PREFIX}subject:' .. ARGV[at + 3]
        redis.call('RPUSH', subject, newest)
        redis.call('LTRIM', subject, -ARGV[9], -1)
        redis.call('PEXPIRE', subject, ARGV[7])
      end
    end
    positions[#positions + 1] = times and newest or 0
  end
  if newest > before then
    redis.call('SET', KEYS[2], newest)
  elseif ARGV[10] == '1' then
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

/** KEYS: events. ARGV: limit. The server's time, and when the oldest events were received. */
export const datesScript = `
  local dates = {}
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[1])) do
    dates[#dates + 1] = { tonumber(entry[1]:match('^%d+')), tonumber(entry[2][2]) }
  end
  local time = redis.call('TIME')
  return { time[1] .. string.format('%03d', math.floor(time[2] / 1000)), dates }
`;
