import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { follow } from '../../docs/clients/sse.ts';
import {
  EVENTS_OF_CLIENT as EVENTS,
  NOTES,
  finishUnreadableNote,
} from '../support/clients/outage.ts';
import { logged, openRestarting } from '../support/clients/restarts.ts';
import { transcriptReady } from '../support/access/transcript-ready.ts';
import { createTally } from '../support/clients/tally.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';

function followed(
  gateway: Pick<Gateway, 'url' | 'query'>,
  query = EVENTS,
  variables = {},
  grants = ['partner'],
) {
  const received = createTally<string>();
  const refetched = createTally<string>();
  const errors: unknown[] = [];
  const leaving = new AbortController();
  const over = follow<{ readonly cursor: string }>({
    url: `${gateway.url}/graphql`,
    token: () => tokenFor(grants),
    query,
    variables,
    async refetch() {
      const { eventCursor } = (await gateway.query('{ eventCursor }')).data;
      refetched.add(eventCursor);
      return eventCursor;
    },
    onEvent({ cursor }, failed) {
      if (failed) errors.push(failed);
      received.add(cursor);
    },
    signal: leaving.signal,
  });
  return { received, refetched, errors, over, leave: () => leaving.abort() };
}

describe('a subscription that is read with fetch', () => {
  it('misses and repeats no event while the gateway restarts', async () => {
    await using gateway = await openRestarting();
    const { received, refetched, over, leave } = followed(gateway);
    await refetched.reaches(1);
    gateway.sandbox.burst(15);
    await received.reaches(5);
    await gateway.close();
    gateway.sandbox.burst(15);
    await gateway.open();
    await received.reaches(30);
    await gateway.sandbox.delivered();
    const all = await logged(gateway, refetched.all[0]!);
    await received.reaches(all.length);
    expect(received.all).toEqual(all);
    expect(refetched.all).toHaveLength(1);
    leave();
    await over;
  });

  it('refetches and resumes when its cursor has expired', async () => {
    await using gateway = await openRestarting();
    const { received, refetched, over, leave } = followed(gateway);
    await refetched.reaches(1);
    await gateway.close();
    await gateway.open('fresh');
    await refetched.reaches(2);
    gateway.sandbox.burst(5);
    await gateway.sandbox.delivered();
    const all = await logged(gateway, refetched.all[1]!);
    await received.reaches(all.length);
    expect(received.all).toEqual(all);
    leave();
    await over;
  });

  it('gets an event whose text has a line separator', async () => {
    await using gateway = await openRestarting();
    const query =
      'subscription ($after: EventCursor) { events(after: $after) { cursor ... on SessionTranscriptError { error } } }';
    const { received, refetched, over, leave } = followed(gateway, query);
    await refetched.reaches(1);
    const { payload, ...event } = transcriptReady({ error: 'one\u2028two' });
    gateway.sandbox.emit({ ...event, eventType: 'session_transcript_error', payload });
    await received.reaches(1);
    leave();
    await over;
  });

  it('passes on what could not be read of an event', async () => {
    await using gateway = await openRestarting();
    const { received, refetched, errors, over, leave } = followed(gateway, NOTES);
    await refetched.reaches(1);
    finishUnreadableNote(gateway);
    await received.reaches(1);
    expect(errors).toMatchObject([[{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]]);
    leave();
    await over;
  });

  it('ends at once when its signal aborts', async () => {
    await using gateway = await openRestarting();
    const { received, refetched, over, leave } = followed(gateway);
    await refetched.reaches(1);
    gateway.sandbox.burst(1);
    await received.reaches(1);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    leave();
    await over;
    vi.useRealTimers();
  });

  it('rejects with the error of its listener', async () => {
    await using gateway = await openRestarting();
    const { eventCursor } = (await gateway.query('{ eventCursor }')).data;
    gateway.sandbox.burst(1);
    const over = follow({
      url: `${gateway.url}/graphql`,
      token: () => tokenFor(['partner']),
      query: EVENTS,
      refetch: () => Promise.resolve(eventCursor),
      onEvent() {
        throw new Error('the page is gone');
      },
      signal: new AbortController().signal,
    });
    await expect(over).rejects.toThrow('the page is gone');
  });

  it('rejects when the gateway’s error is permanent', async () => {
    await using gateway = await openRestarting();
    const wrong = followed(gateway, 'subscription { nothing { cursor } }');
    await expect(wrong.over).rejects.toThrow('BAD_USER_INPUT');
    const { clinic } = gateway.sandbox.ids;
    const otherClinic = { filter: { clinicId: clinic(3) } };
    const forbidden = followed(gateway, EVENTS, otherClinic, [`clinic:${clinic(0)}`]);
    await expect(forbidden.over).rejects.toThrow('NOT_FOUND');
    const rows = 'nodes { progressNote { note } transcript { raw } }';
    const expensive = `subscription { noteReady { cursor client { clinic { clients(first: 100) {
      nodes { sessions(first: 100) { ${rows} } } } } } } }`;
    const costly = followed(gateway, expensive);
    await expect(costly.over).rejects.toThrow('QUERY_TOO_EXPENSIVE');
  });

  it('waits while the viewer has too many streams', async () => {
    const rejected = createTally<string>();
    await using gateway = await openGateway({
      env: { LIMIT_SOCKETS_PER_VIEWER: '1' },
      onLog: (line) => line.includes('"status":429') && rejected.add(line),
    });
    const first = followed(gateway);
    await first.refetched.reaches(1);
    gateway.sandbox.burst(1);
    await first.received.reaches(1);
    const second = followed(gateway);
    await rejected.reaches(1);
    first.leave();
    await first.over;
    gateway.sandbox.burst(1);
    await second.received.reaches(1);
    second.leave();
    await second.over;
  });
});
