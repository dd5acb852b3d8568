import { describe, expect, it } from 'vitest';

import type { PartnerEvent } from '../../src/events/partner-event.ts';
import { createExecutions } from '../../src/gateway/executions.ts';
import { createPayload } from '../../src/gateway/payload.ts';
import { type Member, createGroup } from '../../src/gateway/subscription-group.ts';

const at = (position: number) => ({ position }) as PartnerEvent;
const turn = () => new Promise(setImmediate);

/** A group whose executions end when the test says so. */
function openGroup() {
  const begun = new Map<number, PromiseWithResolvers<ReturnType<typeof createPayload>>>();
  const failures: unknown[] = [];
  let heard: ((event: PartnerEvent) => void) | undefined;
  const group = createGroup({
    listen(hear) {
      heard = hear;
      return () => (heard = undefined);
    },
    payloadOf({ position }) {
      const made = Promise.withResolvers<ReturnType<typeof createPayload>>();
      made.promise.catch(() => undefined);
      begun.set(position, made);
      return made.promise;
    },
    onDelivered: () => undefined,
    audit: undefined,
    onFailure: (error) => failures.push(error),
  });
  return {
    group,
    begun,
    failures,
    isListening: () => heard !== undefined,
    hear: (position: number) => heard?.(at(position)),
    finish: (position: number) => begun.get(position)?.resolve(createPayload(position)),
  };
}

function listener(since = 0) {
  const got: number[] = [];
  let lost = 0;
  const member: Member = {
    subject: 'tester',
    since,
    subscriber: {
      next: ({ messageTail }) => void got.push(Number.parseInt(messageTail.toString(), 10)),
      lost: () => void (lost += 1),
    },
  };
  return { got, member, lost: () => lost };
}

describe('a group of equal subscriptions', () => {
  it("is told in the log's order, whichever execution ends first", async () => {
    const { group, hear, finish } = openGroup();
    const { got, member } = listener();
    group.join(member);
    [1, 2, 3].forEach(hear);
    [3, 2, 1].forEach(finish);
    await turn();
    expect(got).toEqual([1, 2, 3]);
  });

  it('tells nobody of what came before they joined', async () => {
    const { group, hear, finish } = openGroup();
    const [early, late] = [listener(), listener(2)];
    group.join(early.member);
    [1, 2].forEach(hear);
    group.join(late.member);
    hear(3);
    [1, 2, 3].forEach(finish);
    await turn();
    expect(early.got).toEqual([1, 2, 3]);
    expect(late.got).toEqual([3]);
  });

  it('executes a bounded number at once', () => {
    const { group, hear, begun } = openGroup();
    group.join(listener().member);
    for (let position = 1; position <= 1_000; position += 1) hear(position);
    expect(begun.size).toBe(16);
  });

  it('lets its members go, rather than wait without bound for a slow upstream', () => {
    const { group, hear } = openGroup();
    const { member, lost } = listener();
    group.join(member);
    for (let position = 1; position <= 10_016; position += 1) hear(position);
    expect(lost()).toBe(0);
    hear(10_017);
    expect(lost()).toBe(1);
  });

  it('lets its members go when an execution fails, and serves whoever comes next', async () => {
    const { group, hear, begun, finish, failures } = openGroup();
    const { member, got, lost } = listener();
    group.join(member);
    [1, 2].forEach(hear);
    begun.get(1)?.reject(new Error('no'));
    finish(2);
    await turn();
    expect(failures).toHaveLength(1);
    expect(lost()).toBe(1);
    expect(got).toEqual([]);
    group.leave(member);
    const next = listener(2);
    group.join(next.member);
    hear(3);
    finish(3);
    await turn();
    expect(next.got).toEqual([3]);
  });

  it('listens for as long as it has members', () => {
    const { group, isListening } = openGroup();
    const [one, two] = [listener(), listener()];
    group.join(one.member);
    group.join(two.member);
    group.leave(one.member);
    group.leave(one.member);
    expect(isListening()).toBe(true);
    group.leave(two.member);
    expect(isListening()).toBe(false);
  });
});

describe('what was executed', () => {
  it('is remembered for a moment, and a failure is not', async () => {
    const executed = createExecutions();
    let runs = 0;
    const fails = () => {
      runs += 1;
      return Promise.reject(new Error('no'));
    };
    await expect(executed('1', fails)).rejects.toThrow('no');
    await expect(executed('1', fails)).rejects.toThrow('no');
    expect(runs).toBe(2);
    const payload = createPayload({ data: null });
    expect(await executed('1', () => Promise.resolve(payload))).toBe(payload);
    expect(await executed('1', fails)).toBe(payload);
  });
});
