import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';

import type { Gateway } from '../support/gateway.ts';
import { type LiveNotes, nameOfClinician, shareLiveNotes } from '../support/live-notes.ts';

const focusedText = (page: Page) =>
  page.evaluate<string>('document.activeElement.textContent.trim()');

/** The first checks of axe: every control has a name, ids are unique, headings skip no level. */
const FLAWS = `(() => {
  const flaws = [];
  const visible = (e) => e.checkVisibility();
  for (const e of document.querySelectorAll('input, select, textarea'))
    if (visible(e) && !(e.labels?.length || e.ariaLabel)) flaws.push('no label: ' + e.id);
  for (const e of document.querySelectorAll('a, button'))
    if (visible(e) && !e.textContent.trim() && !e.ariaLabel) flaws.push('no name: ' + e.outerHTML);
  for (const e of document.querySelectorAll('img'))
    if (!e.hasAttribute('alt')) flaws.push('no alt: ' + e.src);
  for (const e of document.querySelectorAll('[aria-labelledby], [aria-controls], [aria-describedby]'))
    for (const name of ['aria-labelledby', 'aria-controls', 'aria-describedby'])
      for (const id of (e.getAttribute(name) ?? '').split(' ').filter(Boolean))
        if (!document.getElementById(id)) flaws.push(name + ' leads nowhere: ' + id);
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  flaws.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => 'twice: ' + id));
  let level = 0;
  for (const e of document.querySelectorAll('h1, h2, h3, h4')) {
    if (!visible(e)) continue;
    if (Number(e.tagName[1]) > level + 1) flaws.push('heading skips: ' + e.textContent);
    level = Number(e.tagName[1]);
  }
  for (const role of ['main', 'header', 'nav', 'h1'])
    if (!document.querySelector(role)) flaws.push('no ' + role);
  return flaws;
})()`;

describe.skipIf(process.env['SKIP_CHROMIUM'])(
  'the accessibility of live notes',
  { timeout: 60_000 },
  () => {
    let gateway: Gateway;
    let notes: LiveNotes;
    let page: Page;
    let clinician: string;
    shareLiveNotes((...opened) => ([gateway, notes] = opened));
    beforeAll(async () => {
      page = notes.page;
      clinician = await nameOfClinician(gateway, 1);
    });

    it('allows find, select, open and edit by keyboard only', async () => {
      await page.goto(gateway.url);
      await page.getByRole('link', { name: clinician, exact: true }).waitFor();
      await page.locator('#find').focus();
      await page.keyboard.type(clinician);
      await page.keyboard.press('Tab');
      expect(await focusedText(page)).toContain(clinician);
      await page.keyboard.press('Enter');
      await notes.live();
      expect(await focusedText(page)).toBe(clinician);
      await notes.rows.first().waitFor();
      // After the links to the sessions and the clients.
      for (const _ of [1, 2, 3]) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.locator('#note h4').first().waitFor();
      const client = await page.locator('#detail-title').textContent();
      expect(await focusedText(page)).toBe(client);
      await page.keyboard.press('Tab');
      await page.keyboard.type('Make it shorter.');
      await page.keyboard.press('Control+Enter');
      await page.locator('#note [data-changed]').first().waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tabpanel', { name: 'Decision making' }).waitFor();
      await page.keyboard.press('End');
      await page.getByRole('tabpanel', { name: 'Scores' }).waitFor();
      await page.keyboard.press('Home');
      await page.getByRole('tabpanel', { name: 'Transcript' }).waitFor();
    });

    it('keeps the focus where it is when events arrive', async () => {
      await page.goto(gateway.url);
      await page.getByRole('link', { name: clinician, exact: true }).click();
      await notes.live();
      await notes.rows.nth(1).focus();
      const held = await focusedText(page);
      gateway.sandbox.startSession(gateway.sandbox.ids.client(27));
      await notes.rows.filter({ hasText: 'Today' }).filter({ hasText: 'Ready' }).first().waitFor();
      expect(await focusedText(page)).toBe(held);
    });

    it('leaves the focus at the last row after the last "Show more"', async () => {
      await notes.follow({ list: gateway.sandbox.ids.client(0) });
      const more = page.getByRole('button', { name: 'Show more sessions' });
      await more.press('Enter');
      await more.waitFor({ state: 'hidden' });
      await page.locator('#sessions li:last-child a:focus').waitFor();
      await notes.follow({ clinician: gateway.sandbox.ids.clinician(1), show: 'clients' });
      const moreClients = page.getByRole('button', { name: 'Show more clients' });
      await moreClients.press('Enter');
      await moreClients.waitFor({ state: 'hidden' });
      await page.locator('#clients li:last-child a:focus').waitFor();
    });

    it.each([[[360]], [[1024, 1440]]])(
      'fits windows of %j pixels, and every control has a name',
      async (widths) => {
        const height = 740;
        await page.setViewportSize({ width: widths[0]!, height });
        await page.goto(gateway.url);
        const checked = async () => {
          const wide =
            'document.documentElement.scrollWidth - document.documentElement.clientWidth';
          for (const width of widths) {
            await page.setViewportSize({ width, height });
            expect(await page.evaluate(wide)).toBe(0);
            expect(await page.evaluate(FLAWS)).toEqual([]);
          }
        };
        await notes.rows.first().waitFor();
        await checked();
        // On a phone the list of clinicians is a separate page.
        if (widths[0]! < 760) await page.getByRole('link', { name: 'Clinicians' }).click();
        await page.getByRole('link', { name: clinician, exact: true }).waitFor();
        await checked();
        await page.getByRole('link', { name: clinician, exact: true }).click();
        await page.getByRole('heading', { name: clinician }).waitFor();
        await notes.rows.first().waitFor();
        await checked();
        await page.getByRole('link', { name: 'Clients' }).click();
        await page.locator('#clients a').first().waitFor();
        await checked();
        await page.getByRole('link', { name: 'Sessions', exact: true }).first().click();
        await notes.rows.first().click();
        await page.locator('#note h4').first().waitFor();
        await checked();
        await page.goBack();
        await notes.rows.first().waitFor();
        await page.setViewportSize({ width: 1280, height: 800 });
      },
    );

    it('has enough contrast in the light and in the dark scheme', async () => {
      await page.goto(gateway.url);
      await page.getByRole('link', { name: clinician, exact: true }).click();
      await notes.rows.first().click();
      await page.locator('#note h4').first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        // Without transitions, so that colours are final.
        await page.emulateMedia({ colorScheme });
        expect([colorScheme, await page.evaluate(CONTRAST)]).toEqual([colorScheme, []]);
      }
    });

    it('logs no error', () => {
      expect(notes.problems).toEqual([]);
    });
  },
);

/** Texts with a contrast under 4.5 to 1 against the nearest painted background. */
const CONTRAST = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r, g, b] = rgb(color).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (e) => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (rgb(color)[3] === 255) return color;
    }
    return 'white';
  };
  const low = [];
  for (const e of document.body.querySelectorAll('*')) {
    const hasText = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!hasText || !e.checkVisibility() || e.matches('.visually-hidden, noscript, option, :disabled')) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(backgroundOf(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(e.textContent.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return [...new Set(low)];
})()`;
