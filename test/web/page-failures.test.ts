import type { Locator } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';
import { type LiveNotes, nameOfClinician, shareLiveNotes } from '../support/live-notes.ts';

const MESSAGE = 'The records can’t be loaded right now.';

describe.skipIf(process.env['SKIP_CHROMIUM'])(
  'live notes while the Partner API fails',
  { timeout: 60_000 },
  () => {
    let gateway: Gateway;
    let notes: LiveNotes;
    shareLiveNotes((...opened) => ([gateway, notes] = opened));
    afterEach(() => gateway.sandbox.clearAnswers());

    const fail = (route: string) =>
      gateway.sandbox.answerNext(route, { status: 500, times: 1_000 });

    /** The Partner API works again, and the gateway notices after a moment. */
    async function tryAgain(place: Locator, expected: Locator): Promise<void> {
      gateway.sandbox.clearAnswers();
      const button = place.getByRole('button', { name: 'Try again' });
      const isLoaded = async () => {
        if (await button.isVisible()) {
          // What was shown before still is until the response comes, which then moves the focus.
          const response = place.page().waitForResponse('**/graphql');
          await Promise.all([response, button.click()]);
          return false;
        }
        return (await expected.first().isVisible()) && !(await button.isVisible());
      };
      await expect.poll(isLoaded, { timeout: 25_000, interval: 200 }).toBe(true);
    }

    it('says that a session could not be loaded, not that there is none', async () => {
      const { page } = notes;
      fail('GET /clients/:clientId/sessions');
      await notes.openSession(30);
      await page.locator('#blank').getByText(MESSAGE).waitFor();
      expect(await page.getByText('There is no such session').count()).toBe(0);
      await tryAgain(page.locator('#blank'), page.locator('#note h4'));
    });

    it.each([
      [
        31,
        'progress-note',
        'Transcript',
        'The note could not be loaded.',
        'No note yet',
        '#note h4',
      ],
      [
        32,
        'transcript',
        'Transcript',
        'The transcript could not be loaded.',
        'No transcript yet',
        '.transcript li',
      ],
      [
        33,
        'mdm',
        'Decision making',
        'The decision making could not be loaded.',
        'None so far',
        '#panel-1 p',
      ],
    ])(
      'of session %i, says that the %s could not be loaded',
      async (nth, route, tab, words, none, part) => {
        const { page } = notes;
        fail(`GET /sessions/:sessionId/${route}`);
        await notes.openSession(nth);
        await page.locator('#session-problem').getByText(MESSAGE).waitFor();
        await page.getByRole('tab', { name: tab }).click();
        await page.locator('#session').getByText(words).first().waitFor();
        expect(await page.getByText(none).count()).toBe(0);
        await tryAgain(page.locator('#session-problem'), page.locator(part));
        await expect.poll(() => page.getByText(words).count()).toBe(0);
      },
    );

    it('says that the sessions of a list could not be loaded', async () => {
      const { page } = notes;
      fail('GET /clients/:clientId/sessions');
      await notes.follow({ clinician: gateway.sandbox.ids.clinician(5) });
      await page.locator('#feed-problem').getByText(MESSAGE).waitFor();
      await tryAgain(page.locator('#feed-problem'), notes.rows);
    });

    it.each(['feed', 'detail'])('keeps the focus in the %s after "Try again"', async (part) => {
      const { page } = notes;
      await page.route('**/graphql', (route) =>
        route.fulfill({ json: { errors: [{ message: MESSAGE }] } }),
      );
      if (part === 'feed') await notes.follow({ clinician: gateway.sandbox.ids.clinician(8) });
      else await notes.openSession(34);
      const again = page.locator(`.${part}`).getByRole('button', { name: 'Try again' });
      await again.press('Enter');
      await page.locator(`.${part} .again:focus`).waitFor();
      await page.unroute('**/graphql');
      const hasTitleFocus = async () => {
        if (await again.isVisible()) await again.press('Enter');
        return page.locator(`#${part}-title:focus`).count();
      };
      await expect.poll(hasTitleFocus, { timeout: 25_000, interval: 500 }).toBe(1);
    });

    it('marks the rows whose notes could not be loaded', async () => {
      const { page } = notes;
      fail('GET /sessions/:sessionId/progress-note');
      await notes.follow({ clinician: gateway.sandbox.ids.clinician(6) });
      await page.locator('#feed-problem').getByText(MESSAGE).waitFor();
      await notes.rows.filter({ hasText: 'Not loaded' }).first().waitFor();
      expect(await notes.rows.filter({ hasText: 'No note' }).count()).toBe(0);
      await tryAgain(page.locator('#feed-problem'), notes.rows.filter({ hasText: 'Ready' }));
    });

    it('says that the clients could not be loaded, not that the link is invalid', async () => {
      const { page } = notes;
      fail('GET /clinicians/:clinicianId/clients');
      await notes.follow({ clinician: gateway.sandbox.ids.clinician(7), show: 'clients' });
      await page.locator('#clients-found').getByText(MESSAGE).waitFor();
      expect(await page.getByText(/Not found|No clients yet/).count()).toBe(0);
      expect(await page.locator('#state').textContent()).toBe('Not live');
      await tryAgain(page.locator('#clients-found'), page.locator('#clients a'));
      await page.getByRole('link', { name: 'Sessions', exact: true }).first().click();
      await tryAgain(page.locator('#feed-problem'), notes.rows);
      await notes.live();
    });

    it('keeps the name of a clinician in the heading while nothing can be loaded', async () => {
      const { page } = notes;
      const name = await nameOfClinician(gateway, 11);
      const error = { message: 'The Partner API failed.', extensions: { code: 'UPSTREAM_ROUTE' } };
      await page.route('**/graphql', (route) => route.fulfill({ json: { errors: [error] } }));
      await page.locator('#clinicians').getByText(name).click();
      await page.locator('#feed-problem').getByText(MESSAGE).waitFor();
      expect(await page.locator('#feed-title').textContent()).toBe(name);
      expect(await page.title()).toBe(`${name} · Live notes`);
      expect(await page.locator('#state').textContent()).toBe('Not live');
      expect(await page.getByText('Partner API').count()).toBe(0);
      await page.unroute('**/graphql');
      await tryAgain(page.locator('#feed-problem'), notes.rows);
    });

    it('says that the clinicians could not be loaded, not that there are none', async () => {
      const { page } = notes;
      fail('GET /clinics/:clinicId/clinicians');
      await page.getByLabel('Clinic', { exact: true }).selectOption({ index: 1 });
      await page.locator('#found').getByText(MESSAGE).waitFor();
      expect(await page.getByText('Nobody works here yet.').count()).toBe(0);
      await tryAgain(page.locator('#found'), page.getByText(/^\d+ clinicians$/));
    });

    it('is not live offline, and loads after reconnecting what it could not load', async () => {
      const { page } = notes;
      await page.goto(gateway.url);
      await notes.live();
      await notes.rows.first().waitFor();
      await page.context().setOffline(true);
      await page.locator('#state[data-state=waiting]').waitFor();
      await notes.rows.first().click();
      await page.locator('#blank').getByText('The server can’t be reached.').waitFor();
      expect(await page.locator('#state').textContent()).not.toBe('Live');
      await page.context().setOffline(false);
      await notes.live();
      await page.locator('#note h4').first().waitFor();
    });

    describe('whose first subscription fails', () => {
      let code: string | undefined;
      beforeAll(async () => {
        const { page } = notes;
        // Records the states: some pass within 200 ms.
        await page.addInitScript(`
          globalThis.states = [];
          const record = () => states.push(document.querySelector('#state').dataset.state);
          new MutationObserver(record).observe(document, { subtree: true, attributeFilter: ['data-state'] });
        `);
        await page.routeWebSocket('**/graphql', (socket) => {
          const server = socket.connectToServer();
          socket.onMessage((message) => {
            if (!code || !String(message).includes('"subscribe"')) return server.send(message);
            const error = { message: 'Down.', extensions: { code } };
            code = undefined;
            socket.send(JSON.stringify({ id: '1', type: 'error', payload: [error] }));
          });
        });
      });

      it('follows the events again by itself after a transient error', async () => {
        const { page } = notes;
        code = 'UPSTREAM_UNAVAILABLE';
        await page.goto(gateway.url);
        const states = () => page.evaluate<string[]>('states');
        await expect.poll(states).toEqual(['live', 'waiting', 'live']);
        expect(await page.locator('#failure').isVisible()).toBe(false);
      });

      it('says that a subscription failed, and follows the events again if asked to', async () => {
        const { page } = notes;
        code = 'UPSTREAM_CREDENTIALS';
        await page.goto(gateway.url);
        await page.locator('#failure').getByText(MESSAGE).waitFor();
        expect(await page.locator('#state').textContent()).toBe('Not live');
        await page.getByRole('button', { name: 'Try again' }).click();
        await notes.live();
        expect(await page.locator('#failure').isVisible()).toBe(false);
      });
    });

    it('says at the start that the clinics could not be loaded', async () => {
      await using other = await openGateway();
      other.sandbox.answerNext('GET /organizations', { status: 500, times: 1_000 });
      const { page } = notes;
      await page.goto(other.url);
      await page.locator('#failure').getByText(MESSAGE).waitFor();
      expect(await page.getByText('no record').isVisible()).toBe(false);
      other.sandbox.clearAnswers();
      const clinician = await nameOfClinician(gateway, 1);
      await tryAgain(
        page.locator('#failure'),
        page.getByRole('link', { name: clinician, exact: true }),
      );
      await page.goto(gateway.url);
    });
  },
);
