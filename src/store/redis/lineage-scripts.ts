import { PREFIX } from './scripts.ts';

const CHILDREN_KEY = `
  local function childrenKey(parent, child)
    return '${PREFIX}children:' .. child:match('^[^:]*') .. ':' .. parent
  end
`;

/**
 * ARGV: how long to keep, children kept for a parent, number of links; then child, parent, page and
 * time of each link; then child and parent of each link to remove.
 */
export const writeLinksScript = `${CHILDREN_KEY}
  local last = 3 + 4 * ARGV[3]
  for at = 4, last, 4 do
    local child, parent, page, seen = unpack(ARGV, at, at + 3)
    local up = '${PREFIX}parents:' .. child
    local old = redis.call('HGET', up, parent)
    if old then
      local oldPage, oldSeen = old:match('^(%d*) (%d+)$')
      if page == '' then page = oldPage end
      if tonumber(oldSeen) > tonumber(seen) then seen = oldSeen end
    end
    redis.call('HSET', up, parent, page .. ' ' .. seen)
    redis.call('PEXPIRE', up, ARGV[1])
    redis.call('ZADD', '${PREFIX}lineage', seen, child)
    local down = childrenKey(parent, child)
    redis.call('ZADD', down, seen, child)
    redis.call('ZREMRANGEBYRANK', down, 0, -ARGV[2] - 1)
    redis.call('PEXPIRE', down, ARGV[1])
  end
  for at = last + 1, #ARGV, 2 do
    redis.call('HDEL', '${PREFIX}parents:' .. ARGV[at], ARGV[at + 1])
    redis.call('ZREM', childrenKey(ARGV[at + 1], ARGV[at]), ARGV[at])
  end
`;

/** ARGV: children. For each: parent and "page time" in turn. */
export const parentsScript = `
  local answers = {}
  for at, child in ipairs(ARGV) do answers[at] = redis.call('HGETALL', '${PREFIX}parents:' .. child) end
  return answers
`;

/** ARGV: the most children to know, seen since when. Forgets up to a hundred; answers how many. */
export const trimLinksScript = `${CHILDREN_KEY}
  local all = '${PREFIX}lineage'
  local excess = redis.call('ZCARD', all) - ARGV[1]
  local oldest = redis.call('ZRANGE', all, 0, 99, 'WITHSCORES')
  local forgotten = 0
  for at = 1, #oldest, 2 do
    if forgotten >= excess and tonumber(oldest[at + 1]) >= tonumber(ARGV[2]) then break end
    local child = oldest[at]
    for _, parent in ipairs(redis.call('HKEYS', '${PREFIX}parents:' .. child)) do
      redis.call('ZREM', childrenKey(parent, child), child)
    end
    redis.call('DEL', '${PREFIX}parents:' .. child)
    redis.call('ZREM', all, child)
    forgotten = forgotten + 1
  end
  return forgotten
`;
