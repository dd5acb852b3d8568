import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import { openServer } from '../../src/server.ts';
import { type Watched, openPage } from '../support/browser.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';
import { nameOfClinician } from '../support/live-notes.ts';

describe.skipIf(process.env['SKIP_CHROMIUM'])(
  'signing in to live notes',
  { timeout: 60_000 },
  () => {
    let gateway: Gateway;
    let watched: Watched;
    let page: Page;
    let earlierProblems = 0;
    const problems = () => watched.problems.slice(earlierProblems);

    beforeAll(async () => {
      gateway = await openGateway();
      watched = await openPage();
      page = watched.page;
      await page.goto(gateway.url);
    }, 60_000);
    afterAll(async () => {
      await watched?.close();
      await gateway?.close();
    });
    beforeEach(async () => {
      await page.evaluate('sessionStorage.clear()');
      earlierProblems = watched.problems.length;
      await page.goto(gateway.url);
    });

    it('asks for a token first, rejects a wrong one, and discards it on signing out', async () => {
      await page.getByLabel('Access token').waitFor();
      await page.getByText('Not signed in').waitFor();
      expect(await page.getByText('everybody here is made up').isVisible()).toBe(false);
      expect(problems()).toEqual([]);
      // Not every character can be in a header.
      await page.getByLabel('Access token').fill('“nonsense”');
      await page.keyboard.press('Enter');
      await page.locator('#token-problem').filter({ hasText: 'token' }).waitFor();
      await page.getByLabel('Access token').fill(await tokenFor(['partner']));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Clinicians' }).waitFor();
      await page.locator('#feed-title:focus').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Access token').waitFor();
      expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
    });

    it('shows a clinician their own sessions at once', async () => {
      const token = await tokenFor([`clinician:${gateway.sandbox.ids.clinician(2)}`]);
      await page.getByLabel('Access token').fill(token);
      await page.keyboard.press('Enter');
      await page.locator('#state[data-state=live]').waitFor();
      const name = await nameOfClinician(gateway, 2);
      expect(await page.locator('#feed-title').textContent()).toBe(name);
      expect(await page.locator('#sessions a').count()).toBeGreaterThan(5);
      expect(problems()).toEqual([]);
    });

    it('asks again when the token has expired', async () => {
      const grant = `clinician:${gateway.sandbox.ids.clinician(2)}`;
      await page.getByLabel('Access token').fill(await tokenFor([grant], { expiresInSeconds: 6 }));
      await page.keyboard.press('Enter');
      await page.locator('#state[data-state=live]').waitFor();
      await page.getByText('expired').waitFor();
      expect(await page.getByLabel('Access token').isVisible()).toBe(true);
      expect(await page.locator('#panes').isVisible()).toBe(false);
    });

    it('shows the next viewer nothing that the one before had open', async () => {
      const signIn = async (nth: number) => {
        const token = await tokenFor([`clinician:${gateway.sandbox.ids.clinician(nth)}`]);
        await page.getByLabel('Access token').fill(token);
        await page.keyboard.press('Enter');
      };
      await signIn(2);
      await page.locator('#sessions a').first().click();
      await page.locator('#note h4').first().waitFor();
      const patients = await page.locator('#sessions .who').allTextContents();
      await page.getByLabel('Magic edit').fill('A draft.');
      await page.evaluate(`sessionStorage.setItem('live-notes-token', 'no longer valid')`);
      await page.getByRole('button', { name: 'Show more clients' }).click();
      await page.getByLabel('Access token').waitFor();
      await page.goBack();
      await page.goForward();
      expect(await page.title()).toBe('Live notes');
      const left = await page.content();
      expect(patients.filter((name) => left.includes(name))).toEqual([]);
      for (const id of ['detail-hint', 'note', 'panel-0', 'panel-1', 'sessions', 'news'])
        expect(await page.locator(`#${id}`).textContent()).toBe('');
      await signIn(3);
      await page.getByText('There is no such session').waitFor();
      expect(await page.locator('#note').isVisible()).toBe(false);
      expect(await page.locator('#instructions').inputValue()).toBe('');
    });

    it('asks for nothing in a sandbox without AUTH_*', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'partner-graph-open-'));
      const config = readConfig({ PORT: '0', EVENT_STORE_DIR: dir, SANDBOX_PULSE_MS: '0' });
      const server = await openServer(config, createLog('silent'));
      await page.goto(server.url);
      await page.locator('#state[data-state=live]').waitFor();
      await page.getByText('everybody here is made up').waitFor();
      expect(await page.getByLabel('Access token').isVisible()).toBe(false);
      expect(await page.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(false);
      const graphiql = await fetch(`${server.url}/graphql`, { headers: { accept: 'text/html' } });
      expect(await graphiql.text()).not.toContain('token-notice');
      expect(problems()).toEqual([]);
      await server[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    });
  },
);
