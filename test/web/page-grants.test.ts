import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Watched, openPage } from '../support/browser.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';
import { nameOfClient } from '../support/live-notes.ts';

const UNKNOWN_ID = '11111111-1111-4111-8111-111111111111';

describe.skipIf(process.env['SKIP_CHROMIUM'])(
  'live notes by the grants of the viewer',
  { timeout: 60_000 },
  () => {
    let gateway: Gateway;
    let watched: Watched;
    let page: Page;
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

    async function openAs(
      grants: readonly string[],
      link: Readonly<Record<string, string>> = {},
    ): Promise<void> {
      const token = await tokenFor(grants);
      await page.evaluate(`
        sessionStorage.setItem('live-notes-token', '${token}');
        history.replaceState(null, '', '/#${new URLSearchParams(link).toString()}');
      `);
      await page.reload();
    }

    it('shows a viewer of one client their sessions at once', async () => {
      await openAs([`client:${gateway.sandbox.ids.client(0)}`]);
      await page.locator('#state[data-state=live]').waitFor();
      const name = await nameOfClient(gateway, 0);
      expect(await page.locator('#feed-title').textContent()).toBe(name);
      expect(await page.locator('#sessions a').count()).toBe(10);
      await page.locator('#clinicians [aria-current=true]', { hasText: name }).waitFor();
      await page.locator('#picker-title', { hasText: 'Open to you' }).waitFor();
      await page.getByLabel('Find a record').waitFor();
      expect(await page.getByText(/clinician/i).count()).toBe(0);
    });

    it('shows a viewer of one session its note, and each new version of it', async () => {
      const { ids } = gateway.sandbox;
      await openAs([`session:${ids.session(1, 0)}`]);
      await page.locator('#note h4').first().waitFor();
      await page.locator('#state[data-state=live]').waitFor();
      await page.getByLabel('Magic edit').fill('Make it shorter.');
      await page.getByRole('button', { name: 'Rewrite note' }).click();
      await page.locator('#note .version').waitFor();
      await page.getByRole('tab', { name: 'Scores' }).click();
      await page.getByText('Scores are shown to those who may see the client.').waitFor();
      expect(await page.locator('#sessions a').count()).toBe(1);
    });

    it('shows the session of a link to a list that the viewer may not see', async () => {
      const { ids } = gateway.sandbox;
      const [client, session] = [ids.client(2), ids.session(2, 0)];
      const link = { clinician: ids.clinician(2), client, session };
      await openAs([`session:${session}`], link);
      await page.locator('#state[data-state=live]').waitFor();
      await page.locator('#sessions [aria-current=true]').waitFor();
      expect(await page.getByText('Not found').count()).toBe(0);
      await page.getByRole('tab', { name: 'Scores' }).click();
      await page.getByText('Scores are shown to those who may see the client.').waitFor();
    });

    it('lists what the grants name beside the clinics', async () => {
      const { ids } = gateway.sandbox;
      const sessions = [1, 2].map((nth) => `session:${ids.session(nth, 0)}`);
      const grants = [`clinic:${ids.clinic(0)}`, `client:${ids.client(3)}`, ...sessions];
      await openAs(grants);
      await page.getByText(/^\d+ clinicians$/).waitFor();
      await page.locator('#state[data-state=live]').waitFor();
      await page.getByLabel('Clinic', { exact: true }).selectOption('Yours');
      await page.getByText('3 records').waitFor();
      await page.locator('#clinicians a', { hasText: 'Session 2' }).click();
      await page.locator('#note h4').first().waitFor();
      await page.locator('#clinicians a', { hasText: await nameOfClient(gateway, 3) }).click();
      await page.getByRole('heading', { name: await nameOfClient(gateway, 3) }).waitFor();
    });

    it.each(['clinician', 'client', 'session'])(
      'says that the %s which the only grant names does not exist',
      async (kind) => {
        await openAs([`${kind}:${UNKNOWN_ID}`]);
        await page.getByRole('heading', { name: 'Not found' }).waitFor();
        expect(await page.locator('#picker-problem').isVisible()).toBe(false);
      },
    );

    it.each([[[]], [[`organization:${UNKNOWN_ID}`]]])(
      'says that the grants %j give access to nothing',
      async (grants) => {
        await openAs(grants);
        await page.getByText('Your token gives access to no record.').waitFor();
        expect(await page.getByText(/choose|try again/i).count()).toBe(0);
      },
    );

    it('says which part of a link to a session is missing', async () => {
      const { ids } = gateway.sandbox;
      const link = { session: ids.session(0, 0) };
      await openAs([`clinician:${ids.clinician(0)}`], link);
      await page.getByText('This link is incomplete').waitFor();
    });

    it('logs no error', () => {
      expect(watched.problems).toEqual([]);
    });
  },
);
