import { randomBytes } from 'node:crypto';

import {
  type GraphQLSchema,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  executeRootSelectionSet,
  validateExecutionArgs,
} from 'graphql';

import { type Context, type Door, type House, createContext } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import { traceOperation } from '../observability/tracing.ts';
import { type Usage, createUsage } from '../rest/usage.ts';
import { reachOf } from '../viewer/reach.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { planOf } from './compiled/compile.ts';
import { type Executed, runPlan } from './compiled/run.ts';
import { type DocumentLimits, createDocuments, spokenValidationError } from './documents.ts';
import { inDocumentOrder } from './error-order.ts';
import { estimateCalls } from './estimate.ts';
import { spokenOf } from './masking.ts';
import type { OperationRequest } from './operation-request.ts';
import { type Refusal, type SpokenError, isRefusal, refuse, refuseWith } from './refusal.ts';

export interface PipelineParts {
  readonly schema: GraphQLSchema;
  readonly house: House;
  readonly limits: DocumentLimits & {
    readonly operationMs: number;
    readonly maxUpstreamCalls: number;
    readonly maxEstimatedCalls: number;
  };
  readonly introspection: boolean;
  readonly now: () => number;
  readonly onFinished: (finished: Finished) => void;
  /** Before an operation that is about to be answered again and again: what to call each time. */
  readonly onRepeated: (finished: Finished) => () => void;
  readonly onMasked: (cause: unknown) => void;
}

/** An operation that may be executed: parsed, valid, within every limit. No call was made for it yet. */
export interface Prepared {
  readonly args: ValidatedExecutionArgs;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | undefined;
  readonly estimated: number;
}

export interface Answer {
  /** As JSON. */
  readonly data: string;
  readonly errors?: readonly SpokenError[];
  readonly extensions: { readonly upstream: UpstreamReport };
}

export interface UpstreamReport {
  readonly estimated: number;
  readonly calls: number;
  readonly cached: number;
  readonly coalesced: number;
  readonly retried: number;
}

/** What there is to say of an operation once it is over; no value of it is in here. */
export interface Finished {
  readonly id: string;
  readonly kind: Prepared['kind'];
  readonly name: string | undefined;
  readonly viewer: Viewer;
  readonly durationMs: number;
  readonly usage: UpstreamReport;
  readonly codes: readonly string[];
}

/** What an answer was made of, where that is nothing but answers that are watched: it is right while they are. */
export interface Basis {
  readonly id: string;
  readonly name: string | undefined;
  readonly estimated: number;
  /** The Partner API's, and what lets the viewer see them. */
  readonly answers: readonly { readonly expiresAt: number }[];
  readonly isValid: () => boolean;
  /** How many are the Partner API's. */
  readonly cached: number;
  /** Records of patients, that is. */
  readonly hasShown: boolean;
}

export interface Execution {
  readonly answer: Loaded<Answer>;
  /** Once the answer is there. Undefined if the answer can't be given again without asking. */
  basis(): Basis | undefined;
  /** The client has gone: reads are given up, a write that was sent is not. */
  abandon(): void;
}

export type Pipeline = ReturnType<typeof createPipeline>;

/** One way for every door: limits, parse, validate, cost, execute, mask. */
export function createPipeline(parts: PipelineParts) {
  const { schema, house, limits } = parts;
  const documents = createDocuments(schema, limits, parts.introspection);

  function prepare(request: OperationRequest, viewer: Viewer): Prepared | Refusal {
    const document = documents(request.query);
    if (isRefusal(document)) return document;
    const args = validateExecutionArgs({
      schema,
      document,
      variableValues: request.variables,
      operationName: request.operationName,
      hideSuggestions: true,
    });
    if (!('schema' in args)) return refuseWith(args.map(spokenValidationError));
    const { calls, issues } = estimateCalls(args, reachOf(viewer), house.cursors);
    if (issues.length > 0) return refuse('BAD_USER_INPUT', issues.join('; '), { issues });
    if (calls > limits.maxEstimatedCalls) return tooExpensive(calls, limits.maxEstimatedCalls);
    const { operation, name } = args.operation;
    return { args, kind: kinds[operation], name: name?.value, estimated: calls };
  }

  function execute(prepared: Prepared, viewer: Viewer, door: Door): Execution {
    const startedAt = performance.now();
    const { kind, name, estimated } = prepared;
    const id = nextId();
    const trace = traceOperation(kind, name);
    const usage = createUsage({
      maxCalls: limits.maxUpstreamCalls,
      priority: kind === 'mutation' ? 'write' : 'read',
      traceHeaders: trace.headers,
    });
    const contextValue = createContext(house, viewer, usage, door, { name, id }, trace);
    const { audit } = contextValue;
    const result = run(prepared.args, contextValue);
    let failed = false;
    const finish = (finished: Executed): Answer => {
      failed = finished.errors.length > 0;
      audit?.finish();
      const answer = answerOf(finished, estimated, usage);
      const durationMs = performance.now() - startedAt;
      const codes = codesOf(answer);
      const report = answer.extensions.upstream;
      parts.onFinished({ id, kind, name, viewer, durationMs, usage: report, codes });
      trace.end(codes[0] ?? 'ok', usage.calls);
      return answer;
    };
    const basis = (): Basis | undefined => {
      const { cachePolicy } = contextValue;
      if (kind !== 'query' || failed || !cachePolicy.isCacheable || audit?.missing.size)
        return undefined;
      const used = [...usage.entries];
      const hasShown = (audit?.seen.size ?? 0) > 0;
      const proof = { value: undefined, expiresAt: cachePolicy.expiresAt, valid: true };
      const answers = [...used, proof];
      const { isCurrent } = house.partner;
      const isValid = () => used.every(isCurrent);
      return { id, name, estimated, answers, isValid, cached: used.length, hasShown };
    };
    if (!(result instanceof Promise)) return { answer: finish(result), basis, abandon: () => {} };
    const abandon = () => usage.end();
    const timer = setTimeout(abandon, limits.operationMs);
    const ended = result.finally(() => clearTimeout(timer));
    return { answer: whenLoaded(ended, finish), basis, abandon };
  }

  function answerOf({ data, errors }: Executed, estimated: number, usage: Usage): Answer {
    const { calls, cached, coalesced, retried } = usage;
    const extensions = { upstream: { estimated, calls, cached, coalesced, retried } };
    if (errors.length === 0) return { data, extensions };
    const spoken = inDocumentOrder(errors).map((error) => spokenOf(error, parts.onMasked));
    return { errors: spoken, data, extensions };
  }

  /** For an answer that will be given again while it holds: to be called each time. */
  function repeated(basis: Basis, viewer: Viewer): () => void {
    const { name, id, cached, estimated } = basis;
    const usage = { estimated, calls: 0, cached, coalesced: 0, retried: 0 };
    const written = basis.hasShown ? house.audit?.again(viewer.subject, name, id) : undefined;
    const finished: Finished = { id, kind: 'query', name, viewer, durationMs: 0, usage, codes: [] };
    const told = parts.onRepeated(finished);
    return () => {
      written?.();
      told();
    };
  }

  return { prepare, execute, repeated };
}

/** By its plan where it has one; by graphql's own executor otherwise. */
function run(args: ValidatedExecutionArgs, ctx: Context): Loaded<Executed> {
  const plan = planOf(args);
  if (plan) return runPlan(plan, ctx, args.variableValues, args.fragmentDefinitions);
  const result = executeRootSelectionSet({ ...args, contextValue: ctx });
  return whenLoaded(result, ({ data, errors = [] }) => ({ data: JSON.stringify(data), errors }));
}

/** Unique without a random number for each: the process has one, and counts on. */
const INSTANCE = randomBytes(4).toString('hex');
let operations = 0;
const nextId = () => `${INSTANCE}-${(operations += 1).toString(36)}`;

const kinds: Record<OperationTypeNode, Prepared['kind']> = {
  [OperationTypeNode.QUERY]: 'query',
  [OperationTypeNode.MUTATION]: 'mutation',
  [OperationTypeNode.SUBSCRIPTION]: 'subscription',
};

const codesOf = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions.code);

function tooExpensive(estimate: number, limit: number): Refusal {
  const message = `This operation could take ${estimate} calls to the Partner API, and at most ${limit} are allowed: ask for fewer rows.`;
  return refuse('QUERY_TOO_EXPENSIVE', message, { estimate, limit });
}
