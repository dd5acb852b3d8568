import { globSync } from 'node:fs';
import type { ServerResponse } from 'node:http';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import * as answerCache from '../../src/gateway/answer-cache.ts';
import * as gatewayYoga from '../../src/gateway/yoga.ts';
import { openGateway } from '../support/gateway.ts';

/** Their tests also pass if Yoga gets every request, and no answer comes from the answer cache. Slow clients take too long. */
const FILES = [
  ...globSync('http/*.test.ts', { cwd: import.meta.dirname, exclude: ['http/http-slow.test.ts'] }),
  'limits.test.ts',
  'messages.test.ts',
  'odd-documents.test.ts',
  '../viewer/viewer-token.test.ts',
];

const { createGatewayYoga } = gatewayYoga;
const answerJson = vi.fn((res: ServerResponse) => Promise.resolve({ res }));
const find = vi.fn(() => undefined);

/** For gateways that are opened from now on. */
function leaveAllToYoga(): void {
  const createYoga = vi.spyOn(gatewayYoga, 'createGatewayYoga');
  createYoga.mockImplementation((...args) => ({ ...createGatewayYoga(...args), answerJson }));
  const createCache = vi.spyOn(answerCache, 'createAnswerCache');
  createCache.mockReturnValue({ find, store: () => undefined });
}

describe('through Yoga alone', () => {
  beforeAll(leaveAllToYoga);
  afterAll(() => void vi.restoreAllMocks());

  it('answers a request that answerJson would have answered, perhaps from the cache', async () => {
    await using gateway = await openGateway();
    expect((await gateway.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
    expect([answerJson, find].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  describe.each(FILES)('%s', async (file) => {
    // Again, since the tests of a file before may have restored all mocks.
    beforeAll(leaveAllToYoga);
    afterAll(() => expect(vi.isMockFunction(gatewayYoga.createGatewayYoga)).toBe(true));
    // The query makes it a module of its own, which defines its tests here.
    const path = `./${file}?through-yoga`;
    await import(path);
  });
});
