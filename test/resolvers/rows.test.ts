import { createHook } from 'node:async_hooks';

import { expect, it } from 'vitest';

import { systemClock } from '../../src/clock.ts';
import { openGateway, tokenFor } from '../support/gateway.ts';
import { raw, requestOf } from '../support/raw-http.ts';

const CLIENTS = `query ($id: ID!, $first: Int!, $clinic: ID) {
  clinic(id: $id, organizationId: $clinic) {
    clients(first: $first) { nodes { id clientId firstName status raw
      sessions(first: 1) { nodes { id sessionId progressNote { id isLoading } } } } }
  }
}`;

it('a row of a list whose answers are cached takes no promise', async () => {
  // Answers stay cached, however busy the machine is.
  const startedAt = systemClock.now();
  await using gateway = await openGateway({ clock: { ...systemClock, now: () => startedAt } });
  const { ids } = gateway.sandbox;
  const authorization = `Bearer ${await tokenFor(['partner'])}`;
  const headers = { authorization, 'Content-Type': 'application/json' };
  let promises = 0;
  const hook = createHook({ init: (_id, type) => (promises += Number(type === 'PROMISE')) });

  /** Each request has another variable, so that it is executed. */
  async function promisesFor(first: number, organization: number): Promise<number> {
    const variables = { id: ids.clinic(0), first, clinic: ids.organization(organization) };
    const body = JSON.stringify({ query: CLIENTS, variables });
    const request = requestOf('POST /graphql HTTP/1.1', headers, body);
    promises = 0;
    hook.enable();
    const answer = await raw(gateway.url, request);
    hook.disable();
    expect(answer.split('"clientId"')).toHaveLength(first + 1);
    return promises;
  }

  for (const n of [1, 2, 3]) await promisesFor(100, n);
  const few = await promisesFor(10, 4);
  expect(few).toBeGreaterThan(0);
  // One for each of the 90 more clients would be 90. Timers of the process make some at any time.
  expect((await promisesFor(100, 5)) - few).toBeLessThan(45);
});
