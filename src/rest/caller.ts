import { count, drawsOnBudget, nextDelay } from './attempts.ts';
import type { Tally } from './attempts.ts';
import type { Call, Perform } from './call.ts';
import { pause } from './clock.ts';
import type { Clock } from './clock.ts';
import { OperationAborted, OutcomeUnknown, PartnerError } from './errors.ts';
import { isDistrust } from './failure-shapes.ts';
import { judge } from './judge.ts';
import type { Judgement } from './judge.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { Deadline, Send, Sent } from './sender.ts';
import type { Standing } from './standing.ts';
import type { Tokens } from './tokens.ts';

export interface CallerParts {
  readonly send: Send;
  readonly tokens: Tokens;
  readonly standing: Standing;
  readonly budget: RetryBudget;
  readonly clock: Clock;
  readonly random: () => number;
}

/** These say what became of a write even if an earlier attempt of it ended unclearly. */
const DEFINITE: ReadonlySet<string> = new Set(['BAD_USER_INPUT', 'NOT_FOUND']);

/** Makes a call with as many attempts as its promise, its time and the outage budget allow. */
export function createCaller({
  send,
  tokens,
  standing,
  budget,
  clock,
  random,
}: CallerParts): Perform {
  const learn = (sent: Sent, judgement: Judgement): void => {
    const { exchange, token } = sent;
    if (token === '' || exchange.kind !== 'answered') return;
    const { status } = exchange;
    if (status === 401) tokens.refused(token);
    else if (judgement.answer || status === 400 || status === 404 || status === 409) {
      tokens.accepted(token);
      standing.restore();
    } else if (judgement.shape && isDistrust(status, judgement.shape)) tokens.distrusted(token);
    else if (status === 403 && judgement.error.code === 'UPSTREAM_CREDENTIALS') {
      standing.lose(judgement.error);
    }
  };

  return async (call) => {
    const tally: Tally = { failed: 0, unauthorized: 0, throttled: 0 };
    const deadline: Deadline = { endsAt: undefined };
    let isUnclear = false;
    budget.deposit();
    try {
      for (let isRetry = false; ; isRetry = true) {
        const sent = await send(call, deadline, isRetry);
        const judgement = judge(call, sent.exchange, clock);
        learn(sent, judgement);
        if (judgement.answer) return judgement.answer;

        isUnclear ||= judgement.isUnclear;
        const { error, failure } = judgement;
        if (!failure) throw error;
        count(failure, tally);
        const leftMs = (deadline.endsAt ?? 0) - clock.now();
        const delayMs = nextDelay(failure, tally, call.repeat, leftMs, random);
        if (delayMs === null || !mayRepeat(call, failure.kind === 'status' ? failure.status : 0)) {
          throw error;
        }
        if (drawsOnBudget(failure) && !budget.withdraw()) throw error;
        if (delayMs > 0) await pause(clock, delayMs, call.cancel);
        if (call.cancel.cancelled) throw new OperationAborted(call.template);
      }
    } catch (error) {
      const isSettled = error instanceof PartnerError && DEFINITE.has(error.code);
      throw call.isWrite && isUnclear && !isSettled ? new OutcomeUnknown(call.template) : error;
    }
  };
}

/** Whoever is refused while asking for a token has no newer one to try. */
function mayRepeat(call: Call, status: number): boolean {
  return call.isAuthorized || status !== 401;
}
