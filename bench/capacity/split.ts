import type { RedisRound } from './figures.ts';

/** What is paid once for all that goes together, and what for each. */
export interface Split {
  readonly group: number;
  readonly event: number;
}

/** From two sizes of group: each event costs group ÷ size + event. */
export function split(alone: Point, together: Point): Split {
  const [fewer, more] = [1 / alone.size, 1 / together.size];
  const group = Math.max(0, (alone.us - together.us) / (fewer - more));
  return { group, event: Math.max(0, together.us - group * more) };
}

interface Point {
  readonly size: number;
  readonly us: number;
}

/** The line through the points, by least squares: what there is at none, and what each adds. */
export function lineThrough(points: readonly (readonly [x: number, y: number])[]) {
  const n = points.length;
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / n;
  const [x, y] = [mean(0), mean(1)];
  const slope =
    points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0) /
    points.reduce((sum, [px]) => sum + (px - x) ** 2, 0);
  return { at0: y - slope * x, slope };
}

/** Redis' part grows with the instances that read; an instance's does not. */
export function splitRounds(rounds: readonly RedisRound[], alone: number, together: number) {
  const of = (connections: number) => {
    const own = rounds.filter((round) => round.connections === connections);
    const reading = own.filter(({ instances }) => instances > 1);
    const mean = (name: keyof RedisRound, among = own) =>
      among.reduce((sum, round) => sum + round[name], 0) / among.length;
    return {
      redis: lineThrough(own.map(({ instances, redisUs }) => [instances, redisUs])),
      take: mean('firstUs', reading) - mean('otherUs', reading),
      read: mean('otherUs', reading),
      taken: mean('taken'),
      page: mean('read'),
      bytes: mean('bytes'),
    };
  };
  const [one, many] = [of(alone), of(together)];
  const sized = (size: 'taken' | 'page', a: number, b: number): Split =>
    split({ size: one[size], us: a }, { size: many[size], us: b });
  return {
    append: sized('taken', one.redis.at0, many.redis.at0),
    page: sized('page', one.redis.slope, many.redis.slope),
    take: sized('taken', one.take, many.take),
    read: sized('page', one.read, many.read),
    bytes: many.bytes,
  };
}
