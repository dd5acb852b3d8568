import { ServerResponse } from 'node:http';

import { type GraphQLFieldMap, isObjectType } from 'graphql';

import type { Context } from '../../../../src/context.ts';
import { schema } from '../../../../src/schema/schema.ts';
import { UNEXPECTED } from './unexpected-errors.ts';

/**
 * Loaded before the server: throws unexpected errors in a resolver, in an event's resolver, in a subscription's
 * arguments, in a handler and in the webhook's. The viewer's subject is the name of the error to throw.
 */
function fieldsOf(name: string): GraphQLFieldMap<unknown, Context> {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`wanted the type ${name}, but there is none`);
  return type.getFields();
}

function failAs(ctx: Context): never {
  throw UNEXPECTED[ctx.viewer.subject];
}

fieldsOf('Query')['partner']!.resolve = (_parent, _args, ctx) => failAs(ctx);
fieldsOf('Organization')['raw']!.resolve = async (_parent, _args, ctx) => {
  await Promise.resolve();
  return failAs(ctx);
};
fieldsOf('ProgressNoteGenerated')['progressNote']!.resolve = (_parent, _args, ctx) => failAs(ctx);

fieldsOf('Subscription')['transcriptReady']!.subscribe = () => {
  throw UNEXPECTED['error'];
};

const now = performance.now.bind(performance);
const { writeHead } = ServerResponse.prototype;
let isEnabled = false;
process.on('SIGUSR2', () => (isEnabled = !isEnabled));
// The webhook's handler reads the clock, which throws.
performance.now = () => {
  const stack = isEnabled ? (new Error('here').stack ?? '') : '';
  if (/\/clock\.ts.*\/webhook\.ts/s.test(stack)) throw UNEXPECTED['error'];
  return now();
};
ServerResponse.prototype.writeHead = function failing(this: ServerResponse, ...args: unknown[]) {
  if (isEnabled && this.req.url === '/metrics' && args[0] === 200) throw UNEXPECTED['error'];
  return Reflect.apply(writeHead, this, args);
} as typeof writeHead;
