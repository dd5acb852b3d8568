import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FOLDER = new URL('../../sandbox/', import.meta.url);
const files = globSync('**/*.ts', { cwd: FOLDER.pathname }).map((name) => ({
  name,
  text: readFileSync(new URL(name, FOLDER), 'utf8'),
}));

describe('the sandbox', () => {
  it.each(files)('imports only itself and Node in $name', ({ name, text }) => {
    const imported = [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, from]) => from);
    const folder = new URL(name, FOLDER);
    const outside = imported.filter(
      (from = '') =>
        !from.startsWith('node:') && !new URL(from, folder).href.startsWith(FOLDER.href),
    );
    expect(outside).toEqual([]);
  });

  it('reads the environment and prints only in its main file', () => {
    const users = files.filter(({ text }) => /\bprocess\.|\bconsole\./.test(text));
    expect(users.map(({ name }) => name)).toEqual(['main.ts']);
  });
});
