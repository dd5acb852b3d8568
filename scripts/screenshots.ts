import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

import { closeBrowser, openPage } from '../test/support/browser.ts';
import { type Gateway, openGateway, tokenFor } from '../test/support/gateway.ts';
import { nameOfClient, nameOfClinician, openLiveNotes } from '../test/support/live-notes.ts';
import { indexedPng } from './indexed-png.ts';

const WINDOW = { width: 1440, height: 860 };
const folder = new URL('../docs/images/', import.meta.url).pathname;

/** Decodes a PNG in the browser, on a page without a Content-Security-Policy. */
const PIXELS = `async (png) => {
  const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  let text = '';
  for (let at = 0; at < data.length; at += 32768)
    text += String.fromCharCode(...data.subarray(at, at + 32768));
  return btoa(text);
}`;

async function keep(page: Page, name: string): Promise<void> {
  const png = await page.screenshot({ animations: 'disabled' });
  const blank = await page.context().newPage();
  const pixels = await blank.evaluate<string>(`(${PIXELS})('${png.toString('base64')}')`);
  const small = indexedPng(WINDOW.width, WINDOW.height, Buffer.from(pixels, 'base64'));
  writeFileSync(join(folder, name), small);
  console.log(`${name}: ${Math.round(small.length / 1024)} KB`);
}

/** A clinician's sessions: one note rewritten, one finalized, one being written. */
async function photographLiveNotes(gateway: Gateway): Promise<void> {
  const { sandbox } = gateway;
  const notes = await openLiveNotes(gateway, WINDOW);
  const { page } = notes;
  const client = (nth: number) => sandbox.ids.client(nth);
  await page.getByRole('link', { name: await nameOfClinician(gateway, 1), exact: true }).click();
  await page.getByRole('heading', { name: await nameOfClinician(gateway, 1) }).waitFor();
  await notes.live();
  const signed = sandbox.startSession(client(1));
  await notes.rows.filter({ hasText: 'Today' }).filter({ hasText: 'Ready' }).waitFor();
  sandbox.finalize(sandbox.noteIdOf(signed.sessionId) ?? '');
  sandbox.startSession(client(27));
  sandbox.startSession(client(14));
  const ready = notes.rows.filter({ hasText: 'Today' }).filter({ hasText: 'Ready' });
  await ready.nth(1).waitFor();
  await notes.rowOf(await nameOfClient(gateway, 14)).click();
  await page.locator('#note h4').first().waitFor();
  sandbox.completeAssessments(client(14), 2);
  await page.getByLabel('Magic edit').fill('Shorten the medication section.');
  await page.getByRole('button', { name: 'Rewrite note' }).click();
  await page.locator('#note .version').waitFor();
  sandbox.set({ noteMs: 3_600_000 });
  sandbox.startSession(client(40));
  await notes.rows.filter({ hasText: 'Being written' }).waitFor();
  await page.locator('h1').click();
  await page.locator('#detail').evaluate('(pane) => pane.scrollTo(0, 0)');
  await keep(page, 'live-notes.png');
}

async function photographGraphiql(gateway: Gateway): Promise<void> {
  const { page } = await openPage(WINDOW);
  const authorization = `Bearer ${await tokenFor(['partner'])}`;
  await page.setExtraHTTPHeaders({ authorization });
  await page.goto(`${gateway.url}/graphql`);
  await page.getByRole('tab', { name: 'Clients' }).click();
  await page.getByRole('button', { name: /execute/i }).click();
  await page.locator('.result-window').getByText('"totalCount"').first().waitFor();
  await page.getByRole('button', { name: /documentation/i }).click();
  await page.getByRole('link', { name: 'Query', exact: true }).click();
  await page.locator('.graphiql-doc-explorer-title').filter({ hasText: 'Query' }).waitFor();
  await keep(page, 'graphiql.png');
}

mkdirSync(folder, { recursive: true });
const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-screenshots-'));
const gateway = await openGateway({ storeDir });
await photographLiveNotes(gateway);
await photographGraphiql(gateway);
await closeBrowser();
await gateway.close();
rmSync(storeDir, { recursive: true, force: true });
