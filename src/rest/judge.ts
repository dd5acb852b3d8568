import { retryAfterMsOf } from './attempts.ts';
import type { Failure } from './attempts.ts';
import { jsonOf, notJson } from './body.ts';
import type { Call, CallAnswer } from './call.ts';
import type { Clock } from './clock.ts';
import { OperationAborted, PartnerContractBroken, PartnerUnavailable } from './errors.ts';
import type { PartnerError } from './errors.ts';
import { errorOf, shapeOf } from './failure-shapes.ts';
import type { FailureShape } from './failure-shapes.ts';
import type { Exchange } from './wire.ts';

export type Judgement =
  | { readonly answer: CallAnswer }
  | {
      readonly answer?: never;
      readonly error: PartnerError;
      /** Undefined: another attempt could not help. */
      readonly failure: Failure | undefined;
      /** The request may have taken effect all the same. */
      readonly isUnclear: boolean;
      readonly shape?: FailureShape;
    };

/** What one exchange means for its call. */
export function judge(call: Call, exchange: Exchange, clock: Clock): Judgement {
  const route = call.template;
  switch (exchange.kind) {
    case 'answered':
      return exchange.status >= 200 && exchange.status < 300
        ? successOf(call, exchange)
        : refusalOf(call, exchange, clock);
    case 'unsent':
      return {
        error: new PartnerUnavailable(route, 'no connection could be made'),
        failure: { kind: 'unsent' },
        isUnclear: false,
      };
    case 'timeout':
    case 'reset':
      return {
        error: new PartnerUnavailable(route, `no answer came (${exchange.kind})`),
        failure: { kind: 'unanswered' },
        isUnclear: true,
      };
    case 'cut':
      return {
        error: new PartnerContractBroken(route, 'the answer broke off'),
        failure: { kind: 'unanswered' },
        isUnclear: true,
      };
    case 'garbled':
      return {
        error: new PartnerContractBroken(route, 'the answer is no HTTP, or too large'),
        failure: undefined,
        isUnclear: true,
      };
    case 'aborted':
      break;
  }
  return { error: new OperationAborted(route), failure: undefined, isUnclear: false };
}

type Answered = Extract<Exchange, { kind: 'answered' }>;

function successOf(call: Call, { body, contentType }: Answered): Judgement {
  const json = jsonOf(body, contentType);
  if (json !== notJson) return { answer: { json, bytes: body.length } };
  // A write has been accepted whatever its answer says, unless that is a page of somebody in between, or half of one.
  const isAccepted =
    call.isWrite && !/html/i.test(contentType) && !/^\s*[[{]/.test(body.toString('latin1', 0, 64));
  if (isAccepted) return { answer: { json: undefined, bytes: body.length } };
  return {
    error: new PartnerContractBroken(call.template, 'wanted JSON, but got something else'),
    failure: undefined,
    isUnclear: true,
  };
}

function refusalOf(call: Call, answered: Answered, clock: Clock): Judgement {
  const { body, contentType, status } = answered;
  const shape = shapeOf(jsonOf(body, contentType), body.length === 0);
  const isEnvelope = shape.layer === 'application';
  const retryAfterMs =
    status === 429 ? retryAfterMsOf(answered.retryAfter, clock.wallNow()) : undefined;
  return {
    error: errorOf(call.template, status, shape, retryAfterMs),
    failure: { kind: 'status', status, isEnvelope, retryAfterMs },
    isUnclear: status >= 500 || (status === 401 && !isEnvelope),
    shape,
  };
}
