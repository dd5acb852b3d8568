import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import { type Server, openServer } from '../../src/server.ts';
import { type Block, blocksOf, root } from '../support/clients/pages.ts';
import { openEmbedded } from '../../src/store/sqlite/open.ts';
import { type Gateway, TEST_SECRET, openGateway, tokenFor } from '../support/gateway.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const versions: Readonly<Record<string, string>> = {
  ...manifest.dependencies,
  ...manifest.devDependencies,
};

const hasCurl = spawnSync('curl', ['--version']).error === undefined;

/** Runs a command as a reader would, from the repository; ends it as soon as `enough` holds. */
function shell(
  command: string,
  env: Readonly<Record<string, string>>,
  enough: (output: string) => boolean = () => false,
): Promise<{ code: number | null; output: string }> {
  const { PATH, HOME, TMPDIR } = process.env;
  const given = { PATH, HOME, TMPDIR, ...env };
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-euc', command], { cwd: root, env: given, detached: true });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      // The whole group: what is to be ended is the shell's own child.
      if (enough(output) && child.pid) process.kill(-child.pid, 'SIGTERM');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** These would install, never end, or take minutes, so only the names in them are checked. */
const isOnlyRead = ({ text }: Block) =>
  /^(docker|npm (ci|install|start|test|run (bench|growth|capacity)))\b/m.test(text);
const commands = blocksOf('sh').map((block) => ({ ...block, first: block.text.split('\n')[0] }));

describe('documented commands that are only checked', () => {
  const read = commands.filter(isOnlyRead);
  it.each(read)('$page: $first names only files and versions that exist', ({ text }) => {
    const files = [...text.matchAll(/^node (\S+\.ts)/gm)].map(([, file = '']) => file);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const installed = [...text.matchAll(/(\S+)@(\d\S*)/g)].map(([, name = '', version]) => ({
      name,
      version,
    }));
    expect(installed).toEqual(installed.map(({ name }) => ({ name, version: versions[name] })));
  });
});

describe('documented commands that are run', () => {
  let gateway: Gateway;
  let open: Server;
  let dir: string;
  beforeAll(async () => {
    gateway = await openGateway();
    dir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
    const env = { PORT: '0', EVENT_STORE_DIR: join(dir, 'open'), SANDBOX_PULSE_MS: '0' };
    open = await openServer(readConfig(env), createLog('silent'));
    await (await openEmbedded(join(dir, 'store'), { retentionMs: 1 }))[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    await gateway.close();
    await open[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  async function run(text: string) {
    const url = text.includes('$TOKEN') ? gateway.url : open.url;
    const TOKEN = await tokenFor(['partner']);
    const env = { TOKEN, AUTH_JWT_SECRET: TEST_SECRET, EVENT_STORE_DIR: join(dir, 'store') };
    const command = text.replaceAll('http://localhost:4000', url);
    if (!text.includes('text/event-stream')) return shell(command, env);
    return shell(command, env, (output) => {
      if (output === ':\n\n') gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
      return output.includes('event: next');
    });
  }

  const printsToken = ({ text }: Block) => text.startsWith('TOKEN=');
  const ran = commands.filter((block) => !isOnlyRead(block) && !printsToken(block));
  it.for(ran)('$page: $first', async ({ text }, { skip }) => {
    if (text.includes('curl ') && !hasCurl) skip('there is no curl here');
    const { code, output } = await run(text);
    if (text.includes('text/event-stream')) {
      expect(output).toMatch(/^event: next\ndata: \{"data":/m);
      return;
    }
    expect({ code, output }).toMatchObject({ code: 0 });
    if (text.includes('/graphql')) expect(JSON.parse(output)).not.toHaveProperty('errors');
  });

  it('include one that prints a token for the gateway', async () => {
    const { text } = commands.find(printsToken)!;
    const { output } = await run(`${text}\necho "$TOKEN"`);
    const answer = await gateway.query('{ viewer { grants } }', undefined, {
      authorization: `Bearer ${output.trim().split('\n').at(-1)}`,
    });
    expect(answer.data.viewer.grants).toEqual(['partner']);
  });
});
