import { describe, expect, it } from 'vitest';

import { type Gateway, tokenFor } from '../support/gateway.ts';
import { type LiveNotes, shareLiveNotes } from '../support/live-notes.ts';

const UNKNOWN_ID = '11111111-1111-4111-8111-111111111111';

describe.skipIf(process.env['SKIP_CHROMIUM'])('live notes by link', { timeout: 60_000 }, () => {
  let gateway: Gateway;
  let notes: LiveNotes;
  shareLiveNotes((...opened) => ([gateway, notes] = opened));
  const clinician = () => gateway.sandbox.ids.clinician(3);

  it('finds a client of a clinician by name', async () => {
    const { page } = notes;
    await notes.follow({ clinician: clinician() });
    await page.getByRole('link', { name: 'Clients' }).click();
    await page.getByText(/^20 of 3\d clients$/).waitFor();
    const name = await notes.nameOf(16);
    await page.getByLabel('Find a client').fill(name);
    await expect.poll(() => page.locator('#clients a').count()).toBe(1);
    expect(await page.locator('#clients .born').textContent()).toMatch(/^born \w+ \d+, \d{4}$/);
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name }).waitFor();
    await notes.rows.first().waitFor();
    // In another list the search starts anew.
    await notes.follow({ clinician: gateway.sandbox.ids.clinician(4), show: 'clients' });
    await page.getByText(/^20 of 3\d clients$/).waitFor();
  });

  it('shows all sessions of a client, page by page', async () => {
    const { page } = notes;
    await notes.follow({
      clinician: gateway.sandbox.ids.clinician(29 % 13),
      list: gateway.sandbox.ids.client(29),
    });
    await page.getByText('10 of 25 sessions, newest first').waitFor();
    const dates = async () =>
      (await page.locator('#sessions .who').allTextContents()).map((text) => Date.parse(text));
    for (const count of [20, 25]) {
      await page.getByRole('button', { name: 'Show more sessions' }).click();
      await expect.poll(() => notes.rows.count()).toBe(count);
    }
    expect(await page.getByRole('button', { name: 'Show more sessions' }).isVisible()).toBe(false);
    expect(await dates()).toEqual((await dates()).toSorted((a, b) => b - a));
    await page.getByText('25 sessions, newest first').waitFor();
  });

  it('writes out that a level is not applicable', async () => {
    const { page } = notes;
    await notes.openSession(1);
    await page.getByRole('tab', { name: 'Decision making' }).click();
    await page.locator('.problems').getByText('Not applicable').waitFor();
  });

  it('counts a page once that was asked for by a double click', async () => {
    const { page } = notes;
    await notes.follow({ clinician: clinician() });
    await page.getByText(/^Sessions of the first 10 of/).waitFor();
    let finished = 0;
    page.on('requestfinished', () => (finished += 1));
    // Both requests are sent before the first response is there.
    await page.evaluate(`for (const _ of [1, 2]) document.querySelector('#more').click()`);
    await expect.poll(() => finished).toBe(2);
    await page.getByText('Sessions of the first 20 of').waitFor();
  });

  it.each(['rubbish', UNKNOWN_ID])('says that session %s does not exist', async (session) => {
    const { page } = notes;
    await notes.follow({
      clinic: gateway.sandbox.ids.clinic(0),
      client: gateway.sandbox.ids.client(0),
      session,
    });
    await page.getByText('There is no such session').waitFor();
    expect(await page.title()).toBe('Session not found · Live notes');
  });

  it('leads from a client to the clinicians if the link names none', async () => {
    const { page } = notes;
    await notes.follow({ list: gateway.sandbox.ids.client(0) });
    await notes.rows.first().waitFor();
    expect(await page.locator('#to-clients').isVisible()).toBe(false);
    await notes.follow({ show: 'clients' });
    await page.getByText('Choose from the list to see notes').waitFor();
    expect(await page.locator('#failure').isVisible()).toBe(false);
  });

  it('marks what is open in its lists, with UUIDs, also in upper case, and with global ids in the link', async () => {
    const { page } = notes;
    const { ids } = gateway.sandbox;
    const uuids = { clinic: ids.clinic(0), clinician: ids.clinician(2), client: ids.client(2) };
    const session = ids.session(2, 0);
    const { data } = await gateway.query(
      `query ($clinic: ID!, $clinician: ID!, $client: ID!, $session: ID!) {
        clinic(id: $clinic) { id }
        clinician(id: $clinician) { id }
        client(id: $client) { id }
        session(id: $session, clientId: $client) { id }
      }`,
      { ...uuids, session },
    );
    const globalIds = Object.entries<{ id: string }>(data).map(([name, { id }]) => [name, id]);
    const upper = Object.entries({ ...uuids, session }).map(([name, id]) => [
      name,
      id.toUpperCase(),
    ]);
    const links = [{ ...uuids, session }, ...[globalIds, upper].map(Object.fromEntries)];
    for (const [nth, link] of links.entries()) {
      await notes.follow({ clinician: clinician() });
      await notes.follow(link as Readonly<Record<string, string>>);
      await page.locator('#note h4').first().waitFor();
      await page.locator('#sessions [aria-current=true]').waitFor();
      await page.locator('#clinicians [aria-current=true]').waitFor();
      await notes.live();
      await gateway.query(
        `mutation ($id: ID!) {
          magicEdit(input: { progressNoteId: $id, userInstructions: "Shorter." }) { __typename }
        }`,
        { id: gateway.sandbox.noteIdOf(session) },
      );
      await page.locator('#note .version', { hasText: `Version ${nth + 2}` }).waitFor();
      expect(await notes.rowOf('(new)').count()).toBe(0);
    }
  });

  it('follows the events of a link that names a session only', async () => {
    const { page } = notes;
    const { ids, noteIdOf } = gateway.sandbox;
    const session = ids.session(4, 0);
    await notes.follow({ client: ids.client(4), session });
    await page.locator('#note h4').first().waitFor();
    await notes.live();
    await page.getByText('1 session', { exact: true }).waitFor();
    await notes.follow({ session });
    await notes.live();
    await gateway.query(
      `mutation ($id: ID!) {
        magicEdit(input: { progressNoteId: $id, userInstructions: "Shorter." }) { __typename }
      }`,
      { id: noteIdOf(session) },
    );
    await page.locator('#note .version').waitFor();
  });

  it.each(['rubbish', UNKNOWN_ID])('explains a link to clinician %s', async (id) => {
    const { page } = notes;
    await notes.follow({ clinician: id });
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    expect(await page.locator('#state').textContent()).toBe('Nothing selected');
    await notes.follow({ clinician: clinician() });
    await notes.live();
  });

  it('reaches the transcript on a phone with one tap', async () => {
    const { page } = notes;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(gateway.url);
    await notes.rows.first().click();
    const button = page.locator('#jump').getByRole('button', { name: 'Transcript' });
    expect((await button.boundingBox())?.y).toBeLessThan(844);
    await button.click();
    const first = page.locator('.transcript li').first();
    await expect.poll(async () => (await first.boundingBox())?.y).toBeLessThan(300);
    await page.locator('#skip').press('Enter');
    await page.locator('#detail-title:focus').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('asks a viewer of several clinicians to choose one', async () => {
    const { page } = notes;
    const grants = [2, 3].map((nth) => `clinician:${gateway.sandbox.ids.clinician(nth)}`);
    await page.addInitScript(
      `sessionStorage.setItem('live-notes-token', '${await tokenFor(grants)}')`,
    );
    await page.goto(gateway.url);
    await page.getByText('Choose from the list to see notes').waitFor();
    expect(await page.locator('#state').textContent()).toBe('Nothing selected');
    expect(await page.locator('#clinicians a').count()).toBe(2);
    await page.locator('#clinicians a').first().click();
    await notes.rows.first().waitFor();
    await page.goBack();
    await page.getByText('Choose from the list to see notes').waitFor();
    expect(await notes.rows.count()).toBe(0);
    expect(await page.locator('#more').isVisible()).toBe(false);
  });

  it('writes acronyms as clinicians do, and initials of any script', async () => {
    const words = await notes.page.evaluate<
      readonly string[]
    >(`import('/assets/words.js').then((w) =>
      [w.plainWords('soap'), w.plainWords('dap_note'), w.plainWords('birp'), w.plainWords('medication_management'), w.assessmentName('phq9'), w.initialsOf({ firstName: '𠮷野', lastName: 'O’Brien' })])`);
    expect(words).toEqual(['SOAP', 'DAP note', 'BIRP', 'Medication management', 'PHQ-9', '𠮷O']);
  });

  it('logs no error', () => {
    expect(notes.problems).toEqual([]);
  });
});
