import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

const ORGANIZATIONS = 'GET /organizations';

let caller: Caller;
beforeEach(async () => {
  caller = await openQuietSandbox();
  caller.sandbox.resetCounts();
});
afterEach(() => caller.sandbox.close());

const organizations = () => caller.ask('/organizations');

/** Whether the response is still missing after everything else got one. */
async function isHanging(path: string): Promise<boolean> {
  const pending = caller.ask(path).then(
    () => 'answered',
    () => 'cut',
  );
  await caller.ask('/partners');
  return (await Promise.race([pending, caller.ask('/partners').then(() => 'open')])) === 'open';
}

describe('a switch', () => {
  it('adds latency', async () => {
    caller.sandbox.set({ latencyMs: 40 });
    const before = performance.now();
    await organizations();
    expect(performance.now() - before).toBeGreaterThanOrEqual(35);
  });

  it('fails a share of requests with a 5xx', async () => {
    caller.sandbox.set({ failureRate: 1 });
    const { status, body } = await organizations();
    expect(status).toBeGreaterThanOrEqual(500);
    expect(body.error.statusCode).toBe(status);
  });

  it('makes one route hang and no other', async () => {
    caller.sandbox.set({ hang: ['/organizations'] });
    expect(await isHanging('/organizations')).toBe(true);
  });

  it('is rejected with the name of the invalid one, and nothing is changed', () => {
    const { sandbox } = caller;
    expect(() => sandbox.set({ failureRate: 1, latencyMs: -1 })).toThrow(
      '"latencyMs" must be a number from 0 to 2147483647, but got -1',
    );
    expect(() => sandbox.set(JSON.parse('{"speed":1}'))).toThrow('must be one of latencyMs, ');
    expect(sandbox.switches.failureRate).toBe(0);
  });
});

describe('a prepared response', () => {
  it('is sent once, with its status, headers and body', async () => {
    caller.sandbox.answerNext(ORGANIZATIONS, {
      status: 429,
      headers: { 'retry-after': '5' },
      body: { message: 'Limit Exceeded' },
    });
    expect(await organizations()).toEqual({ status: 429, body: { message: 'Limit Exceeded' } });
    expect((await organizations()).status).toBe(200);
  });

  it('is sent as often as configured, whatever the name of the path parameter', async () => {
    caller.sandbox.answerNext('/clinics/{anything}/clients', { status: 500, body: {}, times: 2 });
    const path = `/clinics/${caller.sandbox.ids.clinic(0)}/clients`;
    const statuses = [await caller.ask(path), await caller.ask(path), await caller.ask(path)];
    expect(statuses.map(({ status }) => status)).toEqual([500, 500, 200]);
  });

  it('can be other than JSON', async () => {
    caller.sandbox.answerNext('*', { rawBody: Buffer.from([0xff, 0xfe]) });
    await expect(organizations()).rejects.toThrow(SyntaxError);
  });

  it('can be a connection reset at once or halfway', async () => {
    caller.sandbox.answerNext('*', { reset: 'afterReceiving' });
    await expect(organizations()).rejects.toThrow('fetch failed');
    caller.sandbox.answerNext('*', { reset: 'midAnswer', body: { data: 'x'.repeat(100) } });
    await expect(organizations()).rejects.toThrow('terminated');
    expect((await organizations()).status).toBe(200);
  });

  it('can be missing', async () => {
    caller.sandbox.answerNext(ORGANIZATIONS, { hang: true });
    expect(await isHanging('/organizations')).toBe(true);
  });

  it('can hide a request that took effect', async () => {
    const { sandbox } = caller;
    const noteId = sandbox.ids.note(0, 0);
    const edit = () =>
      caller.ask(`/progress-notes/${noteId}/magic-edit`, {
        method: 'POST',
        body: { userInstructions: 'x' },
      });
    sandbox.answerNext('/progress-notes/:id/magic-edit', {
      status: 503,
      body: {},
      takesEffect: true,
    });
    expect((await edit()).status).toBe(503);
    sandbox.settle();
    expect(sandbox.events).toHaveLength(1);
    sandbox.answerNext('/progress-notes/:id/magic-edit', { status: 503, body: {} });
    await edit();
    sandbox.settle();
    expect(sandbox.events).toHaveLength(1);
  });
});

describe('the request counts', () => {
  it('are per route, with or without the method, and in total', async () => {
    const { sandbox } = caller;
    await Promise.all([
      organizations(),
      organizations(),
      caller.ask(`/clients/${sandbox.ids.client(0)}/sessions`),
    ]);
    expect(sandbox.countOf(ORGANIZATIONS)).toBe(2);
    expect(sandbox.countOf('/clients/:id/sessions')).toBe(1);
    expect(sandbox.countOf('POST /clients/:id/sessions')).toBe(0);
    expect(sandbox.countOf()).toBe(3);
    sandbox.resetCounts();
    expect(sandbox.countOf()).toBe(0);
    expect(sandbox.requests).toEqual([]);
  });

  it('include the requests themselves', async () => {
    await caller.ask(`/progress-notes/${caller.sandbox.ids.note(0, 0)}?a=b`, {
      method: 'PATCH',
      body: { note: [] },
    });
    expect(caller.sandbox.requests).toMatchObject([
      {
        method: 'PATCH',
        path: `/progress-notes/${caller.sandbox.ids.note(0, 0)}`,
        route: 'PATCH /progress-notes/:progressNoteId',
        query: { a: 'b' },
        headers: { 'access-token': caller.token },
        body: { note: [] },
      },
    ]);
  });

  it('include the most concurrent requests', async () => {
    caller.sandbox.set({ hang: ['*'] });
    const open = Promise.allSettled([organizations(), organizations(), organizations()]);
    await expect.poll(caller.sandbox.mostAtOnce).toBe(3);
    await caller.sandbox.close();
    expect((await open).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('keep the number of old requests, but not the requests', async () => {
    const small = await openQuietSandbox({ loggedRequests: 4 });
    for (let n = 0; n < 12; n++) await small.ask('/partners');
    expect(small.sandbox.requests.length).toBeLessThanOrEqual(5);
    expect(small.sandbox.countOf('/partners')).toBe(12);
    await small.sandbox.close();
  });
});
