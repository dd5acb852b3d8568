import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';

import { schema } from '../../src/schema/schema.ts';
import { namesOfVariables } from '../support/variables.ts';

const root = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const sources = globSync('{src,sandbox}/**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: read(path),
}));

/** From the top: a module imports from lower layers only, and modules of one layer do not import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['server'],
  ['gateway'],
  ['schema', 'pages'],
  ['resolvers'],
  ['context', 'invalidation'],
  ['connection', 'rest', 'events', 'viewer'],
  ['store', 'observability'],
  ['config'],
  ['sealed-text'],
  ['page'],
  [
    'uuid',
    'cache-limit',
    'maybe-promise',
    'clock',
    'errors',
    'json',
    'request-body',
    'end-of-turn',
  ],
];
const MAX_SOURCE_FILES = 170;
const MAX_FILES_IN_FOLDER = 15;

const linesOf = (text: string): number => text.split('\n').length - 1;
const moduleOf = (path: string) =>
  path.startsWith('sandbox/') ? 'sandbox' : (path.split('/')[1] ?? '').replace(/\.ts$/, '');
const layerOf = (module: string) => LAYERS.findIndex((modules) => modules.includes(module));

interface Import {
  readonly from: string;
  /** A path below the root, or a package's name. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(type\s)?[^'";]*?from\s+'([^']+)'|\bimport\s*\(?\s*'([^']+)'|new URL\(\s*'([^']+\.ts)'/g;

function importsOf({ path, text }: { path: string; text: string }): readonly Import[] {
  return [...text.matchAll(IMPORT)].map(([, type, from, bare, url]) => {
    const specifier = from ?? bare ?? url ?? '';
    const to = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier;
    return { from: path, to, typeOnly: type !== undefined };
  });
}

const imports = sources.flatMap(importsOf);
const ours = imports.filter(({ to }) => to.startsWith('src/'));
const arrow = ({ from, to }: Import) => `${from} → ${to}`;
const filesWhere = (holds: (source: { path: string; text: string }) => boolean) =>
  sources.filter(holds).map(({ path }) => path);

describe('imports', () => {
  it('place every module of src in a layer', () => {
    const modules = new Set(sources.map(({ path }) => moduleOf(path)));
    modules.delete('sandbox');
    expect([...modules].filter((module) => layerOf(module) < 0)).toEqual([]);
  });

  it('point from a higher layer to a lower one', () => {
    expect(ours.map(arrow)).toContain('src/viewer/authenticate.ts → src/config.ts');
    const upward = ours.filter(({ from, to, typeOnly }) => {
      const [importer, imported] = [moduleOf(from), moduleOf(to)];
      if (importer === imported) return false;
      // The context declares the types of all layers. Only its values have to come from below.
      if (importer === 'context' && typeOnly) return false;
      return layerOf(imported) <= layerOf(importer);
    });
    expect(upward.map(arrow)).toEqual([]);
  });

  it('keep GraphQL out of the resolvers', () => {
    const graphql = /^(graphql|graphql-yoga|graphql-ws|@pothos\/.*)(\/.*)?$/;
    const wrong = imports.filter(
      ({ from, to }) => moduleOf(from) === 'resolvers' && graphql.test(to),
    );
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('keep the sandbox separate: it imports only Node, and only the server imports it', () => {
    const wrong = imports.filter(({ from, to }) => {
      const isSandbox = to.startsWith('sandbox/');
      if (moduleOf(from) === 'sandbox') return !isSandbox && !to.startsWith('node:');
      return isSandbox && from !== 'src/server.ts';
    });
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('read the environment only in the two entry points', () => {
    const readers = filesWhere(({ text }) =>
      /\bprocess\.env\b|\benv\b[^'"]*'node:process'/.test(text),
    );
    const entries = ['src/server.ts', 'sandbox/main.ts'];
    expect(readers.filter((path) => !entries.includes(path))).toEqual([]);
  });
});

describe('files', () => {
  it(`number at most ${MAX_SOURCE_FILES} in src`, () => {
    const { length } = globSync('src/**/*.*', { cwd: root });
    expect(length).toBeLessThanOrEqual(MAX_SOURCE_FILES);
  });

  it(`number at most ${MAX_FILES_IN_FOLDER} at a folder's own level`, () => {
    const folders = new Map<string, number>();
    for (const path of globSync('{src,sandbox,web,test}/**/*.*', { cwd: root })) {
      folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
    }
    const tooFull = [...folders].filter(([, count]) => count > MAX_FILES_IN_FOLDER);
    expect(tooFull.map(([folder]) => folder)).toEqual([]);
  });

  it('have names in kebab-case that say what they hold', () => {
    const names = sources.flatMap(({ path }) => path.split('/').slice(1));
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.ts)?$/.test(name))).toEqual([]);
    expect(names.filter((name) => /^(utils?|helpers?)(\.ts)?$/.test(name))).toEqual([]);
  });

  it('have at most 300 lines', () => {
    expect(filesWhere(({ text }) => linesOf(text) > 300)).toEqual([]);
  });

  it.each([
    { of: 'src, without its pages', pattern: /^src\/(?!pages\/)/, max: 12_000 },
    { of: 'logging and audit', pattern: /^src\/observability\/(log|output)\.ts$/, max: 250 },
  ])('of $of have at most $max lines together', ({ pattern, max }) => {
    const texts = sources.filter(({ path }) => pattern.test(path)).map(({ text }) => text);
    expect(texts.length).toBeGreaterThan(0);
    expect(linesOf(texts.join(''))).toBeLessThanOrEqual(max);
  });
});

describe('dependencies', () => {
  // With four copies of the tools an idle process takes 16 MB more; with two of graphql, every error looks unexpected.
  it.each(['graphql', '@graphql-tools/utils'])('have one copy of %s', (name) => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: object };
    const copies = Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
    expect(copies).toEqual([`node_modules/${name}`]);
  });
});

describe('documents', () => {
  it('list every configuration variable in the README', () => {
    const rows = read('README.md')
      .split('\n')
      .filter((line) => line.startsWith('|'));
    const missing = namesOfVariables().filter(
      (name) => !rows.some((row) => row.includes(`\`${name}\``)),
    );
    expect(missing).toEqual([]);
  });

  it('have the schema as it is served in schema.graphql', () => {
    expect(read('schema.graphql')).toBe(`${printSchema(schema)}\n`);
  });

  it.runIf(existsSync(join(root, '.git')))(
    'name no path or registry of the machine they were written on',
    () => {
      const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
      const files = tracked
        .split('\0')
        .filter((path) => path !== '' && existsSync(join(root, path)));
      // Joined here, so that the test does not find this file.
      const homes = ['home', 'root', 'Users', 'work'].map((name) => `/${name}/`);
      const machine = new RegExp(`(?<![\\w.~)}-])(${homes.join('|')})\\w`);
      const used = URL.parse(process.env['npm_config_registry'] ?? '')?.hostname ?? '';
      const registries = [['npmjs', 'org'].join('.'), used].filter((host) => host.includes('.'));
      const namesMachine = (text: string) =>
        machine.test(text) || registries.some((host) => text.includes(host));
      expect(files.filter((path) => namesMachine(read(path)))).toEqual([]);
    },
  );
});
