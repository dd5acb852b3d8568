import { parse, validateExecutionArgs } from 'graphql';

import { createExecutor } from '../../../src/gateway/plugins/use-execution.ts';
import { schema } from '../../../src/schema/schema.ts';

/** A program: prints by how many MB the heap grows while 100 different documents are compiled. Needs `--expose-gc`. */
const ROWS = 'totalCount nodes { organizationId name id } pageInfo { hasNextPage }';
const execute = createExecutor();

async function compile(name: string): Promise<void> {
  const fields = Array.from({ length: 10 }, (_, i) => `f${i}of${name}: organizations { ${ROWS} }`);
  const document = parse(`query { ${fields.join(' ')} }`);
  const args = validateExecutionArgs({ schema, document });
  if (!('schema' in args)) throw args[0]!;
  // Compiled at the second use. Without a context its resolvers fail, which does not matter here.
  for (let use = 0; use < 2; use += 1) await execute(args);
}

function heapUsed(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

// More than are kept.
for (let i = 0; i < 30; i += 1) await compile(`Warm${i}`);
const before = heapUsed();
for (let i = 0; i < 100; i += 1) await compile(`N${i}`);
console.log(heapUsed() - before);
