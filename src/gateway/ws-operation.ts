import type { Context } from 'graphql-ws';

import type { FanOut, Subscriber, Subscription } from './fan-out.ts';
import type { Payload } from './payload.ts';
import type { Prepared } from './pipeline.ts';
import type { Refusal } from './refusal.ts';
import { CLOSE } from './ws-close.ts';
import { type WsConnection, answer, close, deliver } from './ws-connection.ts';

export type ProtocolContext = Context<Record<string, unknown>, WsConnection>;

/** What graphql-ws keeps of an operation that runs: something it can end. */
export interface WsOperation extends Subscriber, AsyncIterable<never> {
  readonly id: string;
  /** Its messages up to their payload. */
  readonly head: string;
  /** Also the context's: one step less on the way of each event. */
  readonly connection: WsConnection;
  readonly ctx: ProtocolContext;
  readonly fanOut: FanOut;
  subscription: Subscription | undefined;
  return(): Promise<void>;
}

/**
 * Operations run beside graphql-ws: it would hold a suspended function and every message for each, and serialize each
 * event for each. Its events go straight to the socket, the same bytes for all.
 */
export function openOperation(
  ctx: ProtocolContext,
  id: string,
  prepared: Prepared,
  fanOut: FanOut,
): WsOperation {
  const operation: WsOperation = {
    id,
    head: `{"id":${JSON.stringify(id)},"type":"next","payload":`,
    connection: ctx.extra,
    ctx,
    fanOut,
    subscription: undefined,
    next: sendNext,
    lost: closeLost,
    refused: sendRefusal,
    return: end,
    [Symbol.asyncIterator]: nothing,
  };
  const viewer = ctx.extra.viewer!;
  ctx.extra.operations += 1;
  operation.subscription = fanOut.subscribe({ prepared, viewer, door: 'ws' }, operation);
  return operation;
}

/** Lets graphql-ws know of it, once it has forgotten the message: it minds duplicates, and ends it with the client's `complete` or the socket. */
export function register(operation: WsOperation): void {
  const { ctx, id } = operation;
  if (operation.subscription?.isOver) return;
  if (ctx.extra.isOpen) ctx.subscriptions[id] = operation;
  else void operation.return();
}

function sendNext(this: WsOperation, payload: Payload): void | Promise<void> {
  return deliver(this.connection, this.head, payload);
}

function closeLost(this: WsOperation): void {
  close(this.connection, CLOSE.tryAgainLater);
}

function sendRefusal(this: WsOperation, { errors }: Refusal): void {
  const { ctx, connection, id } = this;
  connection.operations -= 1;
  delete ctx.subscriptions[id];
  answer(connection, JSON.stringify({ id, type: 'error', payload: errors }));
}

async function end(this: WsOperation): Promise<void> {
  if (!this.subscription || this.subscription.isOver) return;
  this.connection.operations -= 1;
  this.fanOut.end(this.subscription);
}

async function* nothing(): AsyncGenerator<never> {}
