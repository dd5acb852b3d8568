import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ValidatedExecutionArgs } from 'graphql';
import type { YogaInitialContext } from 'graphql-yoga';

import type { Context, Transport } from '../context.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { Subscription } from './subscriptions/subscription.ts';

/** One operation that may be executed: valid, and within every limit. */
export interface Operation {
  /** Unique, for finding its log lines. */
  readonly id: string;
  readonly requestId: string | undefined;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | undefined;
  /** Its worst case in upstream calls. */
  readonly estimated: number;
  readonly args: ValidatedExecutionArgs;
  readonly startedAt: number;
}

/** What the transports and plugins keep in Yoga's context. The resolvers' own context is added when executing. */
export interface GatewayContext extends Partial<YogaInitialContext> {
  /** Only over HTTP. */
  readonly req?: IncomingMessage;
  readonly res?: ServerResponse;
  requestId?: string;
  /** Of a request that is answered without executing its operation. */
  rejectedCode?: string;
  requester?: Viewer;
  transport?: Transport;
  answerKey?: string;
  operation?: Operation | undefined;
  /** What `subscribe` returned, before Yoga wraps it. */
  subscription?: Subscription;
}

export type ExecutionContext = GatewayContext & Context & { readonly operation: Operation };

/** Unique without a random number for each: the process has one, and counts on. */
const INSTANCE = randomBytes(4).toString('hex');
let operations = 0;
export const nextOperationId = (): string => `${INSTANCE}-${(operations += 1).toString(36)}`;
