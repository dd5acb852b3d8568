import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = new URL('../../../', import.meta.url).pathname;

export interface Block {
  readonly page: string;
  readonly language: string;
  /** The word after the language: the file that the block shows. */
  readonly file: string | undefined;
  readonly text: string;
}

export interface Page {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

const FENCE = /^```(\w+)(?: (\S+))?\n(.*?)^```$/gms;

/** Every page of documentation, except for the table that a test of its own writes. */
export const pages: readonly Page[] = globSync(['*.md', 'docs/**/*.md', 'bench/README.md'], {
  cwd: root,
})
  .filter((path) => path !== 'docs/upstream-calls.md')
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const blocks = [...text.matchAll(FENCE)].map(([, language = '', file, body = '']) => ({
      page: path,
      language,
      file: file === undefined ? undefined : join(dirname(path), file),
      text: body,
    }));
    return { path, text, blocks };
  });

export const blocksOf = (language: string): readonly Block[] =>
  pages.flatMap(({ blocks }) => blocks).filter((block) => block.language === language);

/** Inline code, outside of blocks. */
export const spans = ({ text }: Page): readonly string[] =>
  [...text.replace(FENCE, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
