import { spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await openQuietSandbox();
});
afterAll(() => caller.sandbox.close());

async function control(name: string, body: unknown, type = 'application/json') {
  const response = await fetch(new URL(`/_sandbox/${name}`, caller.sandbox.connection.baseUrl), {
    method: 'POST',
    headers: { 'content-type': type },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe('over HTTP the sandbox', () => {
  it('returns and sets its switches', async () => {
    expect((await control('switches', { newNoteIdEvery: 1 })).body).toMatchObject({
      newNoteIdEvery: 1,
    });
    const shown = await fetch(new URL('/_sandbox/switches', caller.sandbox.connection.baseUrl));
    expect(await shown.json()).toEqual(caller.sandbox.switches);
  });

  it('rejects an unknown switch', async () => {
    expect((await control('switches', { latencyMs: 'slow' })).status).toBe(400);
    expect((await control('switches', [])).status).toBe(400);
    expect((await control('nothing', {})).status).toBe(404);
  });

  it('rejects a response that could not be sent', async () => {
    for (const answer of [
      { status: 99 },
      { status: 'x' },
      { headers: { 'x y': '1' } },
      { rawBody: 5 },
    ])
      expect((await control('answer-next', { route: '/partners', ...answer })).status).toBe(400);
    await control('answer-next', { route: '/partners', heldUntil: true, status: 418, body: {} });
    expect((await caller.ask('/partners')).status).toBe(418);
    expect((await control('switches', { latencyMs: 3e9 })).status).toBe(400);
  });

  it('rejects content types that a page of another origin could send', async () => {
    expect((await control('expire-tokens', {}, 'text/plain')).status).toBe(415);
    expect((await caller.ask('/partners')).status).toBe(200);
  });

  it('starts sessions and finalizes notes', async () => {
    const { body } = await control('start-session', { clientId: caller.sandbox.ids.client(0) });
    expect(body).toMatchObject({ clientId: caller.sandbox.ids.client(0) });
    await control('finalize', { noteId: caller.sandbox.ids.note(1, 0) });
    expect(caller.sandbox.events.at(-1)?.eventType).toBe('progress_note_finalized');
    expect((await control('finalize', { noteId: 'x' })).status).toBe(404);
  });

  it('prepares a response, sends bursts and expires tokens', async () => {
    await control('answer-next', { route: '/partners', status: 418, body: {} });
    expect((await caller.ask('/partners')).status).toBe(418);
    await control('burst', { count: 10 });
    expect(caller.sandbox.events.length).toBeGreaterThanOrEqual(10);
    await control('expire-tokens', {});
    expect((await caller.ask('/partners')).status).toBe(401);
  });
});

describe('the sandbox as a process', () => {
  it('prints where it listens, and ends on SIGTERM', async () => {
    const child = spawn(process.execPath, ['sandbox/main.ts', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (printed.includes('Switches:')) break;
    }
    const [, baseUrl = ''] = /PARTNER_BASE_URL=(\S+)/.exec(printed) ?? [];
    expect(await (await fetch(`${baseUrl}/partners`)).json()).toEqual({ message: 'Forbidden' });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it.each([
    ['12x', {}, 'The port must be a whole number, but got "12x"'],
    ['70000', {}, 'options.port should be >= 0 and < 65536.'],
    [
      '0',
      { WEBHOOK_URL: 'localhost' },
      'WEBHOOK_URL must be an https:// or http:// URL, but is not',
    ],
    ['0', { SANDBOX_PULSE_MS: '8s' }, 'SANDBOX_PULSE_MS must be a whole number, but is not'],
  ])('says in one line what is wrong with %s and %j', (port, env, message) => {
    const args = ['sandbox/main.ts', port];
    const options = { env: { ...process.env, ...env }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(process.execPath, args, options);
    expect(status).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(message)]);
  });
});

describe('closing', () => {
  it('ends hanging requests at once', async () => {
    const hanging = await openQuietSandbox();
    hanging.sandbox.set({ hang: ['*'] });
    const cut = expect(hanging.ask('/partners')).rejects.toThrow('fetch failed');
    await expect.poll(() => hanging.sandbox.countOf('/partners')).toBe(1);
    await hanging.sandbox.close();
    await cut;
  });

  it('frees the port', async () => {
    const one = await openQuietSandbox();
    const port = Number(new URL(one.sandbox.connection.baseUrl).port);
    await expect(openQuietSandbox({ port })).rejects.toThrow('EADDRINUSE');
    await one.sandbox.close();
    const two = await openQuietSandbox({ port });
    expect((await two.ask('/partners')).status).toBe(200);
    await two.sandbox.close();
  });
});
