import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../src/config.ts';

const root = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const sources = globSync('{src,sandbox}/**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: read(path),
}));

/** From the top. A room imports from lower floors only; rooms of one floor don't know each other. */
const FLOORS: readonly (readonly string[])[] = [
  ['server'],
  ['gateway'],
  ['schema', 'pages'],
  ['resolvers'],
  ['context', 'invalidation'],
  ['rest', 'events', 'viewer'],
  ['store', 'connection', 'observability', 'config'],
  ['sealed-text'],
  ['uuid', 'derived-key', 'loaded', 'page', 'has-code', 'nesting', 'steady-clock'],
];
const OUTSIDE = ['sandbox'];

const roomOf = (path: string) =>
  path.startsWith('sandbox/') ? 'sandbox' : (path.split('/')[1] ?? '').replace(/\.ts$/, '');
const floorOf = (room: string) => FLOORS.findIndex((rooms) => rooms.includes(room));

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

describe('who imports whom', () => {
  it('gives every room a floor', () => {
    const rooms = new Set(sources.map(({ path }) => roomOf(path)));
    expect([...rooms].filter((room) => floorOf(room) < 0 && !OUTSIDE.includes(room))).toEqual([]);
  });

  it('lets a room import from lower floors only', () => {
    expect(ours.map(arrow)).toContain('src/viewer/authenticate.ts → src/config.ts');
    const upward = ours.filter(({ from, to, typeOnly }) => {
      const [here, there] = [roomOf(from), roomOf(to)];
      if (here === there || OUTSIDE.includes(here) || OUTSIDE.includes(there)) return false;
      // The context is where types of all rooms meet; only its values have to come from below.
      if (here === 'context' && typeOnly) return false;
      return floorOf(there) <= floorOf(here);
    });
    expect(upward.map(arrow)).toEqual([]);
  });

  it('keeps GraphQL out of the resolvers', () => {
    const graphql = /^(graphql|graphql-yoga|graphql-ws|@pothos\/.*)(\/.*)?$/;
    const wrong = imports.filter(
      ({ from, to }) => roomOf(from) === 'resolvers' && graphql.test(to),
    );
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('keeps the sandbox a stranger: it knows only Node, and only the server knows it', () => {
    const wrong = imports.filter(({ from, to }) => {
      const inside = to.startsWith('sandbox/');
      if (roomOf(from) === 'sandbox') return !inside && !to.startsWith('node:');
      return inside && from !== 'src/server.ts';
    });
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('reads the environment in the two entry points only', () => {
    const readers = filesWhere(({ text }) =>
      /\bprocess\.env\b|\benv\b[^'"]*'node:process'/.test(text),
    );
    const entries = ['src/server.ts', 'sandbox/main.ts'];
    expect(readers.filter((path) => !entries.includes(path))).toEqual([]);
  });
});

describe('how the source reads', () => {
  it('has no default exports and no enums', () => {
    expect(filesWhere(({ text }) => /^\s*export default\b|\bas default\b/m.test(text))).toEqual([]);
    expect(filesWhere(({ text }) => /^\s*(export )?(declare )?(const )?enum /m.test(text))).toEqual(
      [],
    );
  });

  it('names files in kebab-case, after what they hold', () => {
    const names = sources.flatMap(({ path }) => path.split('/').slice(1));
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.ts)?$/.test(name))).toEqual([]);
    expect(names.filter((name) => /^(utils?|helpers?)(\.ts)?$/.test(name))).toEqual([]);
  });

  it('keeps a file one idea: 300 lines at most', () => {
    expect(filesWhere(({ text }) => text.split('\n').length > 301)).toEqual([]);
  });
});

describe('what is written down', () => {
  it('has every configuration variable in the README', () => {
    const rows = read('README.md')
      .split('\n')
      .filter((line) => line.startsWith('|'));
    const missing = VARIABLES.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)));
    expect(missing).toEqual([]);
  });

  const hasSchema = existsSync(join(root, 'src/schema/schema.ts'));
  it.runIf(hasSchema)('has the schema as it is served in schema.graphql', async () => {
    const { printSchema } = await import('graphql');
    const { schema } = await import('../../src/schema/schema.ts');
    expect(read('schema.graphql')).toBe(`${printSchema(schema)}\n`);
  });

  it.runIf(existsSync(join(root, '.git')))('tells nothing of the machine it was written on', () => {
    const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
    const files = tracked.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
    // Put together here, so that this file is not the one that is found.
    const homes = ['home', 'root', 'Users', 'work'].map((name) => `/${name}/`);
    const machine = new RegExp(`(?<![\\w.~)}-])(${homes.join('|')})\\w`);
    const used = URL.parse(process.env['npm_config_registry'] ?? '')?.hostname ?? '';
    const registries = [['npmjs', 'org'].join('.'), used].filter((host) => host.includes('.'));
    const tells = (text: string) =>
      machine.test(text) || registries.some((host) => text.includes(host));
    expect(files.filter((path) => tells(read(path)))).toEqual([]);
  });
});
