import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = new URL('../../../', import.meta.url).pathname;
const require = createRequire(import.meta.url);

/** A frontend's project: what the page says is in it, our schema, and nothing else. */
export interface Project {
  readonly dir: string;
  /** Runs a program that some package brings, to its end. */
  run(program: 'relay-compiler' | 'graphql-codegen' | 'tsc', ...args: string[]): Promise<void>;
  edit(path: string, change: (text: string) => string): void;
  remove(): void;
}

const STRICT = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
  include: ['src'],
};

/** `files` maps where a file goes to where it is in `docs/clients`. */
export function createProject(files: Readonly<Record<string, string>>): Project {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-client-'));
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  cpSync(join(root, 'schema.graphql'), join(dir, 'schema.graphql'));
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(STRICT));
  for (const [to, from] of Object.entries(files)) {
    cpSync(join(root, 'docs/clients', from), join(dir, to));
  }
  return {
    dir,
    async run(program, ...args) {
      const script = require.resolve(PROGRAMS[program]);
      try {
        await run(process.execPath, [script, ...args], { cwd: dir });
      } catch (error) {
        const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
        throw new Error(`${program} failed: ${stdout}${stderr}`, { cause: error });
      }
    },
    edit(path, change) {
      const file = join(dir, path);
      writeFileSync(file, change(readFileSync(file, 'utf8')));
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

const PROGRAMS = {
  'relay-compiler': 'relay-compiler/cli.js',
  'graphql-codegen': join(root, 'node_modules/@graphql-codegen/cli/esm/bin.js'),
  tsc: join(dirname(require.resolve('typescript/package.json')), 'bin/tsc'),
};
