import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { matchesRoute } from './router.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** `GET /clinics/:clinicId/clients`, or undefined if there is no such route. */
  readonly route: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: unknown;
  readonly at: number;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/** The requests that the sandbox received, for tests that count calls. */
export function createRequestLog(limit: number) {
  const requests: SeenRequest[] = [];
  const counts = new Map<string, number>();
  let [open, mostAtOnce] = [0, 0];
  return {
    /** The latest requests, oldest first. */
    requests: requests as readonly SeenRequest[],
    add(request: SeenRequest) {
      const route = request.route ?? '(no route)';
      counts.set(route, (counts.get(route) ?? 0) + 1);
      requests.push(request);
      // Trimmed in larger steps: shifting the array at every request would cost more than the response.
      if (requests.length > limit * 1.25) requests.splice(0, requests.length - limit);
    },
    /** Counts the request as open until its response is closed. */
    trackOpen(response: ServerResponse) {
      open += 1;
      mostAtOnce = Math.max(mostAtOnce, open);
      response.once('close', () => (open -= 1));
    },
    /** The number of requests for a route, or of all requests. Unlike `requests`, it is not limited to the latest. */
    countOf: (pattern = '*') =>
      [...counts]
        .filter(([route]) => matchesRoute(pattern, route))
        .reduce((sum, [, count]) => sum + count, 0),
    mostAtOnce: () => mostAtOnce,
    reset() {
      requests.length = 0;
      counts.clear();
      mostAtOnce = open;
    },
  };
}
