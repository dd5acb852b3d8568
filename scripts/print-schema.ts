import { writeFile } from 'node:fs/promises';
import { printSchema } from 'graphql';
import { schema } from '../src/schema/schema.ts';

// The contract with frontends. The file is for reviews, and a test keeps it equal to the code. The output is for code
// generators.
const text = `${printSchema(schema)}\n`;
await writeFile(new URL('../schema.graphql', import.meta.url), text);
process.stdout.write(text);
