import { GONE, NO_PAGE, PLACES_KEPT_MS, type PlaceEngine } from '../places.ts';
import type { Connection } from './connection.ts';
import { PREFIX, runScript } from './scripts.ts';

/** More lists than a client is in at a time: past it the client's places are forgotten, and found anew. */
const MAX_LISTS = 16;

const keyOf = (clientId: string): string => `${PREFIX}place:${clientId}`;

/** ARGV: how long to keep; then client, list and page of each change. */
const writePlaces = `
  for at = 2, #ARGV, 3 do
    local key = '${PREFIX}place:' .. ARGV[at]
    local page = tonumber(ARGV[at + 2])
    if page == ${GONE} then
      redis.call('HDEL', key, ARGV[at + 1])
    else
      if redis.call('HLEN', key) >= ${MAX_LISTS} then redis.call('DEL', key) end
      if page ~= ${NO_PAGE} then redis.call('HSET', key, ARGV[at + 1], page)
      else redis.call('HSETNX', key, ARGV[at + 1], page) end
      redis.call('PEXPIRE', key, ARGV[1])
    end
  end
`;

/** As a script, since HGETALL alone is answered as a map by some protocol versions. */
const readPlaces = `return redis.call('HGETALL', KEYS[1])`;

export const createRedisPlaces = ({ command }: Pick<Connection, 'command'>): PlaceEngine => ({
  async write(changes) {
    const args = changes.flatMap(({ clientId, list, page }) => [clientId, list, page]);
    await runScript(command, writePlaces, [], [PLACES_KEPT_MS, ...args]);
  },
  async read(clientId) {
    const pairs = await runScript<string[]>(command, readPlaces, [keyOf(clientId)], []);
    const places: { list: string; page: number }[] = [];
    for (let at = 0; at < pairs.length; at += 2)
      places.push({ list: pairs[at] ?? '', page: Number(pairs[at + 1]) });
    return places;
  },
});
