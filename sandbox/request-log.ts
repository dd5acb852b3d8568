import type { IncomingHttpHeaders } from 'node:http';
import { isRouteMeant } from './router.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** `GET /clinics/:clinicId/clients`, or undefined if no route is there. */
  readonly route: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: unknown;
  readonly at: number;
}

/** What the sandbox was asked, for tests that count calls. */
export interface RequestLog {
  /** The latest ones, oldest first. */
  readonly requests: readonly SeenRequest[];
  readonly note: (request: SeenRequest) => void;
  readonly enter: () => void;
  readonly leave: () => void;
  /** How many came for a route (a template with or without its verb), or in all. Counts, unlike `requests`, forget nothing. */
  readonly countOf: (pattern?: string) => number;
  readonly mostAtOnce: () => number;
  readonly reset: () => void;
}

const UNKNOWN_ROUTE = '(no route)';

export function createRequestLog(most: number): RequestLog {
  const requests: SeenRequest[] = [];
  const counts = new Map<string, number>();
  let [now, mostAtOnce] = [0, 0];
  return {
    requests,
    note(request) {
      const route = request.route ?? UNKNOWN_ROUTE;
      counts.set(route, (counts.get(route) ?? 0) + 1);
      requests.push(request);
      // In larger steps: shifting the array at every request would cost more than the answer.
      if (requests.length > most * 1.25) requests.splice(0, requests.length - most);
    },
    enter() {
      now += 1;
      mostAtOnce = Math.max(mostAtOnce, now);
    },
    leave() {
      now -= 1;
    },
    countOf: (pattern = '*') =>
      [...counts]
        .filter(([route]) => isRouteMeant(pattern, route))
        .reduce((sum, [, count]) => sum + count, 0),
    mostAtOnce: () => mostAtOnce,
    reset() {
      requests.length = 0;
      counts.clear();
      mostAtOnce = now;
    },
  };
}
