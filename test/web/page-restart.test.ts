import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../sandbox/sandbox.ts';
import { type ServerProcess, startServer } from '../support/faults/process/process.ts';
import { DETERMINISTIC } from '../support/gateway.ts';
import {
  type LiveNotes,
  nameOfClient,
  nameOfClinician,
  openLiveNotes,
} from '../support/live-notes.ts';

describe.skipIf(process.env['SKIP_CHROMIUM'])(
  'live notes with a server that is killed',
  { timeout: 60_000 },
  () => {
    let sandbox: Sandbox;
    let server: ServerProcess;
    let storeDir: string;
    let notes: LiveNotes;
    let sessionId: string;
    const folders: string[] = [];

    const newFolder = () => {
      const folder = mkdtempSync(join(tmpdir(), 'partner-graph-page-'));
      folders.push(folder);
      return folder;
    };
    async function startAt(port: string, folder: string): Promise<void> {
      server = await startServer({ sandbox, storeDir: folder, env: { PORT: port } });
      storeDir = folder;
      sandbox.deliverTo(`${server.url}/webhooks`);
    }
    const serving = () => ({ url: server.url, query: server.query, sandbox });
    const todayOf = (client: string) =>
      notes.rows
        .filter({ hasText: 'Today' })
        .filter({ hasText: client })
        .filter({ hasText: 'Ready' });

    beforeAll(async () => {
      sandbox = await openSandbox({ switches: DETERMINISTIC, firstRetryMs: 50 });
      await startAt('0', newFolder());
      notes = await openLiveNotes(serving());
      const name = await nameOfClinician(serving(), 0);
      await notes.page.getByRole('link', { name, exact: true }).click();
      await notes.page.getByRole('heading', { name }).waitFor();
      await notes.live();
    }, 60_000);
    afterAll(async () => {
      await notes.close();
      await server.kill();
      await sandbox.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });

    it('shows every event that arrived while the server was down', async () => {
      const names = [await nameOfClient(serving(), 0), await nameOfClient(serving(), 13)];
      const { port } = new URL(server.url);
      await server.kill();
      await notes.page.locator('#state[data-state=waiting]').waitFor();
      sandbox.startSession(sandbox.ids.client(0));
      ({ sessionId } = sandbox.startSession(sandbox.ids.client(13)));
      await startAt(port, storeDir);
      for (const name of names) await todayOf(name).waitFor({ timeout: 30_000 });
      await notes.live();
      expect(await notes.rows.filter({ hasText: 'Today' }).count()).toBe(2);
    });

    it('reloads everything when the log itself is lost', async () => {
      const name = await nameOfClient(serving(), 26);
      await todayOf(await nameOfClient(serving(), 13)).click();
      await notes.page.locator('#note [data-status=ready]').waitFor();
      const { port } = new URL(server.url);
      await server.kill();
      sandbox.deliverTo(undefined);
      sandbox.startSession(sandbox.ids.client(26));
      sandbox.finalize(sandbox.noteIdOf(sessionId) ?? '');
      await startAt(port, newFolder());
      await todayOf(name).waitFor({ timeout: 30_000 });
      await notes.live();
      await notes.page.locator('#note [data-status=locked]').waitFor();
      sandbox.startSession(sandbox.ids.client(0));
      const today = () => notes.rows.filter({ hasText: 'Today' }).count();
      await expect.poll(today, { timeout: 20_000 }).toBe(4);
    });

    it('logs no error but the failed connections', () => {
      const others = notes.problems.filter(
        (text) =>
          !/net::ERR_(CONNECTION_|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)|WebSocket/.test(text),
      );
      expect(others).toEqual([]);
    });
  },
);
