import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import type { Gateway } from '../support/gateway.ts';
import { type LiveNotes, nameOfClinician, shareLiveNotes } from '../support/live-notes.ts';

const dateIn = async (page: Page) =>
  (await page.locator('#detail-hint').textContent())?.split(' · ')[0];

describe.skipIf(process.env['SKIP_CHROMIUM'])('live notes', { timeout: 60_000 }, () => {
  let gateway: Gateway;
  let notes: LiveNotes;
  let sessionId: string;
  shareLiveNotes((...opened) => ([gateway, notes] = opened));

  it('opens with the live feed of the first clinic, without a click', async () => {
    const { page } = notes;
    expect(await page.locator('#feed-title').textContent()).toBe('Fernhollow Downtown');
    expect(await page.title()).toBe('Fernhollow Downtown · Live notes');
    expect(await page.locator('#feed-hint').textContent()).toBe(
      'All clinicians. Sessions of the first 10 of 420 clients, newest on top. New notes appear automatically.',
    );
    const client = await notes.nameOf(5);
    gateway.sandbox.startSession(gateway.sandbox.ids.client(5));
    const row = notes.rows.filter({ hasText: 'Today' }).filter({ hasText: client });
    await row.filter({ hasText: `with ${await nameOfClinician(gateway, 5)}` }).waitFor();
  });

  it('shows the sessions of the selected clinician', async () => {
    const { page, rows } = notes;
    // The second of the clinic prescribes: their sessions have decision making.
    const clinician = await nameOfClinician(gateway, 1);
    await page.getByLabel('Find a clinician').fill('Nobody');
    await page.getByText('No clinician has this name.').waitFor();
    await page.getByLabel('Find a clinician').fill(clinician.slice(0, 5));
    await page.getByRole('link', { name: clinician, exact: true }).click();
    await notes.live();
    expect(await page.locator('#feed-title').textContent()).toBe(clinician);
    expect(await rows.count()).toBeGreaterThan(10);
    expect(await notes.rowOf(await notes.nameOf(1)).textContent()).toContain('Ready');
  });

  it('shows a note as it becomes ready', async () => {
    const client = await notes.nameOf(14);
    ({ sessionId } = gateway.sandbox.startSession(gateway.sandbox.ids.client(14)));
    const row = notes.rows.filter({ hasText: 'Today' }).filter({ hasText: client });
    await row.filter({ hasText: 'Ready' }).waitFor();
    expect(await notes.rows.first().textContent()).toContain(client);
    await notes.page.locator('#news').filter({ hasText: client }).waitFor({ state: 'attached' });
  });

  it('opens a session: note, transcript, decision making', async () => {
    const { page } = notes;
    await notes.rows.first().click();
    const note = page.getByRole('article', { name: 'Progress note' });
    await note.getByRole('heading', { name: 'Plan' }).waitFor();
    expect(await page.locator('.transcript li').count()).toBeGreaterThan(10);
    await page.getByRole('tab', { name: 'Decision making' }).click();
    await page.getByRole('heading', { name: 'Problems addressed' }).waitFor();
    await note.getByText('Decision making identified').waitFor();
    expect(await page.locator('.transcript').isVisible()).toBe(false);
  });

  it('requests a magic edit once, and shows the new version when it arrives', async () => {
    const { page } = notes;
    gateway.sandbox.set({ rewriteMs: 3_600_000 });
    await page.getByLabel('Magic edit').fill('Add the next appointment.');
    await page.getByRole('button', { name: 'Rewrite note' }).dblclick();
    await page.getByText('Accepted. The new version appears automatically.').waitFor();
    await page.locator('#note [data-status=rewriting]').waitFor();
    expect(await notes.rows.first().textContent()).toContain('Being rewritten');
    gateway.sandbox.settle();
    await page.locator('#note').getByText('The next appointment.').waitFor();
    expect(await page.locator('#note .version').textContent()).toBe('Version 2');
    expect(await page.locator('#note [data-changed]').count()).toBe(1);
    expect(gateway.sandbox.countOf('POST /progress-notes/:progressNoteId/magic-edit')).toBe(1);
    gateway.sandbox.set({ rewriteMs: 0 });
  });

  it('shows a score that the client completes meanwhile', async () => {
    const { page } = notes;
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(14));
    await page.getByRole('tab', { name: 'Scores' }).click();
    await page.locator('.score').waitFor();
    await page.locator('.score summary').click();
    expect(await page.locator('#note [data-changed]').count()).toBe(1);
    expect(await page.locator('.score dt').count()).toBeGreaterThan(0);
  });

  it('shows markup in a note as the text it is, and breaks long words', async () => {
    const { page } = notes;
    const text = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const edit = `mutation ($id: ID!, $patch: JSON!) {
      updateProgressNote(input: { progressNoteId: $id, patch: $patch }) { __typename }
    }`;
    const id = gateway.sandbox.noteIdOf(sessionId);
    await gateway.query(edit, {
      id,
      patch: {
        note: [
          { title: text, text },
          text,
          7,
          [text],
          'x'.repeat(500),
          { title: 'Plan', text: null },
        ],
      },
    });
    await page.reload();
    await page.locator('#note h4').filter({ hasText: text }).waitFor();
    await notes.rowOf(text).waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('#note').getByText('null').count()).toBe(0);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await page.title()).toBe(
      `${await notes.nameOf(14)}, ${await dateIn(page)} · Live notes`,
    );
  });

  it('shows that a note was finalized, and why it can no longer be edited', async () => {
    const { page } = notes;
    gateway.sandbox.finalize(gateway.sandbox.noteIdOf(sessionId) ?? '');
    await page.locator('#note .chip[data-status=locked]').waitFor();
    await page.getByText('This note is finalized. It can no longer be changed.').waitFor();
    // Nothing else of the form.
    expect(await page.getByRole('button', { name: 'Rewrite note' }).count()).toBe(0);
    expect(await page.getByLabel('Magic edit').isVisible()).toBe(false);
    expect((await page.locator('#edit').boundingBox())?.height).toBeLessThan(60);
    expect(await notes.rows.first().textContent()).toContain('Finalized');
  });

  it('says what cannot be transcribed', async () => {
    const { page } = notes;
    const client = gateway.sandbox.ids.client(27);
    gateway.sandbox.startSession(client, { failTranscription: true });
    const row = notes.rows.filter({ hasText: 'Transcription failed' });
    await row.click();
    await page.getByText('there will be no note').waitFor();
    expect(await page.getByRole('button', { name: 'Rewrite note' }).isDisabled()).toBe(true);
    await page.getByText('There is no note to edit').waitFor();
  });

  it('says "Today" until the day ends', async () => {
    const { page } = notes;
    await page.goto(gateway.url);
    await notes.live();
    const today = notes.rows.filter({ hasText: 'Today' });
    gateway.sandbox.startSession(gateway.sandbox.ids.client(6));
    await today.filter({ hasText: await notes.nameOf(6) }).waitFor();
    await page.clock.setFixedTime(Date.now() + 86_400_000);
    gateway.sandbox.startSession(gateway.sandbox.ids.client(8));
    await expect.poll(() => today.count()).toBe(0);
  });

  it('logs no error and contacts no other host', () => {
    expect(notes.problems).toEqual([]);
    expect([...notes.hosts]).toEqual([new URL(gateway.url).host]);
  });
});
