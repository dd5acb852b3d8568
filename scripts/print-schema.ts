import { writeFile } from 'node:fs/promises';
import { printSchema } from 'graphql';
import { schema } from '../src/schema/schema.ts';

// What frontends are promised, for reviews and code generators. A test keeps it equal to the code.
await writeFile(new URL('../schema.graphql', import.meta.url), `${printSchema(schema)}\n`);
