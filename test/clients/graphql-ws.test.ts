import { afterEach, describe, expect, it, vi } from 'vitest';

import { connect, follow } from '../../docs/clients/resume.ts';
import { EVENTS_OF_CLIENT as EVENTS, failNextAccessCheck } from '../support/clients/outage.ts';
import { type Restarting, logged, openRestarting } from '../support/clients/restarts.ts';
import { createTally } from '../support/clients/tally.ts';
import { tokenFor } from '../support/gateway.ts';
import { socketUrl } from '../support/ws/raw-socket.ts';

afterEach(() => vi.restoreAllMocks());

function followed(gateway: Restarting, query = EVENTS, variables = {}, grants = ['partner']) {
  const received = createTally<string>();
  const refetched = createTally<string>();
  const end = Promise.withResolvers<unknown>();
  const client = connect(socketUrl(gateway.url), () => tokenFor(grants));
  const stop = follow<{ readonly cursor: string }>({
    client,
    query,
    variables,
    async refetch() {
      const { eventCursor } = (await gateway.query('{ eventCursor }')).data;
      refetched.add(eventCursor);
      return eventCursor;
    },
    onEvent: ({ cursor }) => received.add(cursor),
    onEnd: end.resolve,
  });
  return {
    received,
    refetched,
    end: end.promise,
    async [Symbol.asyncDispose]() {
      stop();
      await client.dispose();
    },
  };
}

describe('the helper that resumes by cursor', () => {
  it('misses and repeats no event while the gateway restarts', async () => {
    await using gateway = await openRestarting();
    await using follower = followed(gateway);
    const { received, refetched } = follower;
    await refetched.reaches(1);
    for (let round = 0; round < 2; round += 1) {
      gateway.sandbox.burst(15);
      await received.reaches(30 * round + 5);
      await gateway.close();
      gateway.sandbox.burst(15);
      await gateway.open();
      await received.reaches(30 * round + 30);
    }
    await gateway.sandbox.delivered();
    const all = await logged(gateway, refetched.all[0]!);
    await received.reaches(all.length);
    expect(received.all).toEqual(all);
    expect(refetched.all).toHaveLength(1);
  });

  it('refetches and resumes when its cursor has expired', async () => {
    await using gateway = await openRestarting();
    await using follower = followed(gateway);
    const { received, refetched } = follower;
    await refetched.reaches(1);
    gateway.sandbox.burst(5);
    await gateway.sandbox.delivered();
    const known = await logged(gateway, refetched.all[0]!);
    await received.reaches(known.length);
    await gateway.close();
    await gateway.open('fresh');
    await refetched.reaches(2);
    gateway.sandbox.burst(5);
    await gateway.sandbox.delivered();
    const all = await logged(gateway, refetched.all[1]!);
    await received.reaches(known.length + all.length);
    expect(received.all).toEqual([...known, ...all]);
  });

  it('ends with the gateway’s error if that is permanent', async () => {
    await using gateway = await openRestarting();
    await using follower = followed(gateway, 'subscription { nothing { cursor } }');
    expect(await follower.end).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it('retries while the gateway can’t check access', async () => {
    await using gateway = await openRestarting();
    vi.spyOn(Math, 'random').mockReturnValue(0.1);
    const { grants, variables } = await failNextAccessCheck(gateway);
    await using follower = followed(gateway, EVENTS, variables, grants);
    await follower.refetched.reaches(1);
    gateway.sandbox.completeAssessments(variables.filter.clientId);
    await follower.received.reaches(1);
    const read = gateway.sandbox.countOf('GET /clinics/:clinicId/clients');
    expect(read).toBeGreaterThan(3);
  });

  it('ends with the error of its first read', async () => {
    const client = connect('ws://127.0.0.1:9/graphql', () => 'none');
    const end = Promise.withResolvers<unknown>();
    follow({
      client,
      query: EVENTS,
      refetch: () => Promise.reject(new Error('not signed in')),
      onEvent: () => {},
      onEnd: end.resolve,
    });
    expect(await end.promise).toMatchObject({ message: 'not signed in' });
  });
});
