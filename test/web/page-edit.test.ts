import type { Locator } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';

import type { Gateway } from '../support/gateway.ts';
import { type LiveNotes, shareLiveNotes } from '../support/live-notes.ts';

const colourOf = (text: Locator): Promise<string> =>
  text.evaluate('(element) => getComputedStyle(element).color');
const EDIT = 'POST /progress-notes/:progressNoteId/magic-edit';

describe.skipIf(process.env['SKIP_CHROMIUM'])('the magic edit', { timeout: 60_000 }, () => {
  let gateway: Gateway;
  let notes: LiveNotes;
  shareLiveNotes((...opened) => ([gateway, notes] = opened));
  beforeEach(() => gateway.sandbox.resetCounts());

  async function open(nth: number): Promise<void> {
    await notes.openSession(nth);
    await notes.page.locator('#detail-title', { hasText: await notes.nameOf(nth) }).waitFor();
  }
  const field = () => notes.page.getByLabel('Magic edit');
  const state = () => notes.page.locator('#edit-state');
  const problem = () => notes.page.getByRole('alert').and(notes.page.locator('#edit-problem'));
  const click = () => notes.page.getByRole('button', { name: 'Rewrite note' }).click();

  it.each([
    [409, 'The request conflicts with the present state of the record.'],
    [403, 'The note can’t be rewritten right now.'],
  ])('says why it failed after a %i, and can be sent again', async (status, message) => {
    gateway.sandbox.answerNext(EDIT, { status, body: { message: 'no' } });
    await open(0);
    await field().fill(`Shorter, after a ${status}.`);
    await click();
    await problem().getByText(message).waitFor();
    expect(await colourOf(problem())).toBe(await colourOf(notes.page.locator('#session-problem')));
    expect(await state().textContent()).toBe('');
    expect(await field().inputValue()).toBe(`Shorter, after a ${status}.`);
    await click();
    await expect.poll(() => field().inputValue()).toBe('');
    expect(gateway.sandbox.countOf(EDIT)).toBe(2);
    expect(await notes.page.locator('#ask:focus').count()).toBe(1);
  });

  it('says that an instruction is too long, and keeps all of it', async () => {
    await open(6);
    const long = 'Make the plan shorter. '.repeat(300).trim();
    await field().fill(long);
    await click();
    const message = `must have at most 5000 characters, but got ${long.length}.`;
    await problem().getByText(message).waitFor();
    expect(await field().inputValue()).toBe(long);
    expect(gateway.sandbox.countOf(EDIT)).toBe(0);
    await field().fill('Make it shorter.');
    await click();
    await expect.poll(() => field().inputValue()).toBe('');
    expect(await problem().count()).toBe(0);
  });

  it('is sent once when its outcome is unknown, however often the button is clicked', async () => {
    const { page } = notes;
    gateway.sandbox.answerNext(EDIT, { status: 500, takesEffect: true });
    await open(1);
    await field().fill('Add the next appointment.');
    await click();
    await page.locator('#note').getByText('The next appointment.').waitFor();
    await click();
    await problem().getByText('It is not known whether this was accepted.').waitFor();
    expect(gateway.sandbox.countOf(EDIT)).toBe(1);
    await page.getByRole('button', { name: 'Send again anyway' }).click();
    await expect.poll(() => field().inputValue()).toBe('');
    expect(gateway.sandbox.countOf(EDIT)).toBe(2);
    expect(await page.locator('#ask:focus').count()).toBe(1);
  });

  it('asks again while the server waits for its first call, and says so', async () => {
    const { page } = notes;
    await open(5);
    let edits = 0;
    await page.route('**/graphql', (route) => {
      const isEdit = route.request().postData()?.includes('MagicEdit') ?? false;
      edits += Number(isEdit);
      const errors = [{ message: 'Still running.', extensions: { code: 'TIMEOUT' } }];
      return isEdit && edits === 1 ? route.fulfill({ json: { errors } }) : route.continue();
    });
    await field().fill('Make the plan shorter.');
    await click();
    await state().getByText('No answer yet. Asking again').waitFor();
    await expect.poll(() => field().inputValue()).toBe('');
    await page.unroute('**/graphql');
    expect(gateway.sandbox.countOf(EDIT)).toBe(1);
  });

  it('keeps its key when the connection fails', async () => {
    const { page } = notes;
    await open(2);
    const keys: string[] = [];
    await page.route('**/graphql', async (route) => {
      const body = route.request().postDataJSON() as { variables: { input?: object } };
      const { input } = body.variables;
      if (!input) return route.continue();
      keys.push(JSON.stringify(input));
      return keys.length <= 4 ? route.abort() : route.continue();
    });
    await page.clock.install();
    await field().fill('Make the plan shorter.');
    await click();
    for (const [at, waitMs] of [1_000, 3_000, 6_000].entries()) {
      await expect.poll(() => keys.length).toBe(at + 1);
      await page.clock.fastForward(waitMs);
    }
    await problem().getByText('The server can’t be reached.').waitFor();
    await click();
    await expect.poll(() => field().inputValue()).toBe('');
    await page.unroute('**/graphql');
    expect(keys.length).toBe(5);
    expect(new Set(keys).size).toBe(1);
  });

  it('keeps what was typed while another session is open', async () => {
    await open(3);
    await field().fill('A draft.');
    await open(4);
    expect(await field().inputValue()).toBe('');
    await open(3);
    expect(await field().inputValue()).toBe('A draft.');
  });

  it('reaches the magic edit at 1024 × 800 without scrolling, and not over the note in a low window', async () => {
    const { page } = notes;
    await page.setViewportSize({ width: 1024, height: 800 });
    await page.goto(gateway.url);
    await notes.rows.first().click();
    const box = await page.getByRole('button', { name: 'Rewrite note' }).boundingBox();
    expect(box && box.y + box.height).toBeLessThan(800);
    await page.setViewportSize({ width: 1024, height: 700 });
    const note = await page.locator('#note').boundingBox();
    const form = await page.locator('#edit').boundingBox();
    expect(form?.y).toBeGreaterThanOrEqual(note!.y + note!.height);
  });

  it('keeps the form on a phone’s screen while the note is rewritten', async () => {
    const { page } = notes;
    const rewriteMs = gateway.sandbox.switches.rewriteMs;
    gateway.sandbox.set({ rewriteMs: 3_600_000 });
    await page.setViewportSize({ width: 390, height: 700 });
    await open(8);
    await page.locator('#jump').getByText('Magic edit').click();
    await field().fill('Make it shorter.');
    const before = await page.locator('#edit').boundingBox();
    await click();
    await page.locator('#note .chip').getByText('Being rewritten').waitFor();
    const form = await page.locator('#edit').boundingBox();
    expect(form?.y).toBeCloseTo(before!.y, 0);
    gateway.sandbox.settle();
    await page.locator('#note .chip').getByText('Ready').waitFor();
    expect(await page.locator('#note').evaluate((note) => note.style.minHeight)).toBe('');
    gateway.sandbox.set({ rewriteMs });
  });
});
