import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FOLDER = new URL('../../sandbox/', import.meta.url);
const files = globSync('**/*.ts', { cwd: FOLDER.pathname }).map((name) => ({
  name,
  text: readFileSync(new URL(name, FOLDER), 'utf8'),
}));

it('reads the environment and prints only in its main file', () => {
  const users = files.filter(({ text }) => /\bprocess\.|\bconsole\./.test(text));
  expect(users.map(({ name }) => name)).toEqual(['main.ts']);
});
