import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FOLDER = new URL('../../sandbox/', import.meta.url);
const files = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(new URL(name, FOLDER), 'utf8'),
}));

describe('the sandbox', () => {
  it.each(files)('imports nothing but itself and Node in $name', ({ text }) => {
    const imported = [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, from]) => from);
    expect(imported.filter((from) => !/^(\.\/[a-z-]+\.ts|node:[a-z]+)$/.test(from ?? ''))).toEqual(
      [],
    );
  });

  it('reads the environment and prints in its main file alone', () => {
    const speaking = files.filter(({ text }) => /\bprocess\.|\bconsole\./.test(text));
    expect(speaking.map(({ name }) => name)).toEqual(['main.ts']);
  });
});
