import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../src/sandbox/sandbox.ts';
import { openBrowser } from './browser.ts';
import { type Gateway, QUIET, openGateway } from './gateway.ts';
import { type LiveNotes, nameOfClient, nameOfClinician, openLiveNotes } from './live-notes.ts';

describe.skipIf(process.env['SKIP_CHROMIUM'])(
  'live notes over a server that goes away',
  { timeout: 60_000 },
  () => {
    let browser: Browser;
    let sandbox: Sandbox;
    let gateway: Gateway;
    let notes: LiveNotes;
    const folders: string[] = [];

    const newFolder = () => {
      const folder = mkdtempSync(join(tmpdir(), 'partner-graph-page-'));
      folders.push(folder);
      return folder;
    };
    async function openAt(port: string, storeDir: string): Promise<Gateway> {
      const opened = await openGateway({ sandbox, storeDir, env: { PORT: port } });
      sandbox.deliverTo(`${opened.url}/webhooks`);
      return opened;
    }
    const todayOf = (client: string) =>
      notes.rows
        .filter({ hasText: 'Today' })
        .filter({ hasText: client })
        .filter({ hasText: 'Ready' });

    beforeAll(async () => {
      sandbox = await openSandbox({ switches: QUIET, firstRetryMs: 50 });
      browser = await openBrowser();
      gateway = await openAt('0', newFolder());
      notes = await openLiveNotes(browser, gateway);
      await notes.page.getByRole('link', { name: await nameOfClinician(gateway, 0) }).click();
      await notes.live();
    }, 60_000);
    afterAll(async () => {
      await browser.close();
      await gateway.close();
      await sandbox.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });

    it('loses nothing that came while the server was down', async () => {
      const names = [await nameOfClient(gateway, 0), await nameOfClient(gateway, 13)];
      const { port } = new URL(gateway.url);
      await gateway.close();
      await notes.page.locator('#state[data-state=waiting]').waitFor();
      sandbox.startSession(sandbox.ids.client(0));
      sandbox.startSession(sandbox.ids.client(13));
      gateway = await openAt(port, gateway.storeDir);
      for (const name of names) await todayOf(name).waitFor({ timeout: 30_000 });
      await notes.live();
      expect(await notes.rows.filter({ hasText: 'Today' }).count()).toBe(2);
    });

    it('reads everything anew when the log itself is lost', async () => {
      const name = await nameOfClient(gateway, 26);
      const { port } = new URL(gateway.url);
      await gateway.close();
      sandbox.deliverTo(undefined);
      sandbox.startSession(sandbox.ids.client(26));
      gateway = await openAt(port, newFolder());
      await todayOf(name).waitFor({ timeout: 30_000 });
      await notes.live();
      sandbox.startSession(sandbox.ids.client(0));
      const today = () => notes.rows.filter({ hasText: 'Today' }).count();
      await expect.poll(today, { timeout: 20_000 }).toBe(4);
    });

    it('complained about nothing but the server that was not there', () => {
      const others = notes.problems.filter(
        (text) => !/ERR_CONNECTION_REFUSED|WebSocket/.test(text),
      );
      expect(others).toEqual([]);
    });
  },
);
