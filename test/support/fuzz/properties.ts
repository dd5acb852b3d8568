import * as fc from 'fast-check';

import { type Gateway, openGateway } from '../gateway.ts';
import { type Poster, createPoster, graphqlProperties } from './http.ts';
import { frameProperty, wireProperty } from './sockets.ts';
import { expectResponse } from './expect-response.ts';
import { webhookProperty } from './webhooks.ts';

/** A gateway with low limits: the responses are tested, not the fetching. */
export const openTarget = (onLog: (line: string) => void): Promise<Gateway> =>
  openGateway({
    onLog,
    env: {
      GRAPHIQL: 'off',
      OPERATION_MAX_UPSTREAM_CALLS: '20',
      LIMIT_SOCKETS_PER_VIEWER: '100000',
    },
  });

/** How many cases of each make up one round. */
const SHARES = { documents: 12, variables: 4, requests: 4, webhooks: 8, frames: 3, wire: 1 };

const EVERY_EVENT = `query($after: EventCursor) { events(first: 100, after: $after) { nodes { cursor type occurredAt
  receivedAt ... on SessionEvent { sessionExternalId session { sessionId } client { clientId } }
  ... on SessionTranscriptError { error } ... on AssessmentCompleted { assessmentScoreId } }
  pageInfo { hasNextPage endCursor } } }`;

/** Accepted events can be read from the log. */
async function expectReadable({ query }: Gateway): Promise<void> {
  for (let after: string | undefined; ;) {
    const { status, headers: _, ...answer } = await query(EVERY_EVENT, { after });
    expectResponse(status, JSON.stringify(answer), 'events');
    const { hasNextPage, endCursor } = answer.data.events.pageInfo;
    if (!hasNextPage) return;
    after = endCursor;
  }
}

/** One round of `scale` times the shares; returns the number of cases. Throws with the seed and the case. */
export async function fuzz(gateway: Gateway, scale: number, seed?: number): Promise<number> {
  await using poster: Poster = createPoster(gateway);
  const properties = {
    ...(await graphqlProperties(gateway, poster)),
    webhooks: webhookProperty(gateway, poster),
    frames: await frameProperty(gateway),
    wire: wireProperty(gateway),
  };
  let cases = 0;
  for (const [name, property] of Object.entries(properties)) {
    const numRuns = SHARES[name as keyof typeof SHARES] * scale;
    await fc.assert(property as fc.IAsyncProperty<unknown[]>, {
      numRuns,
      ...(seed !== undefined && { seed }),
    });
    cases += numRuns;
  }
  await expectReadable(gateway);
  return cases;
}
