import { writeFile } from 'node:fs/promises';
import { printSchema } from 'graphql';
import { schema } from '../src/schema/schema.ts';

// What frontends are promised: as a file, for reviews, which a test keeps equal to the code; and printed, for whatever
// generates code from it.
const text = `${printSchema(schema)}\n`;
await writeFile(new URL('../schema.graphql', import.meta.url), text);
process.stdout.write(text);
