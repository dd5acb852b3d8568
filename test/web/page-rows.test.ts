import { afterEach, describe, expect, it } from 'vitest';

import type { Gateway } from '../support/gateway.ts';
import { type LiveNotes, nameOfClinician, shareLiveNotes } from '../support/live-notes.ts';

const EDIT = `mutation ($id: ID!) {
  magicEdit(input: { progressNoteId: $id, userInstructions: "Shorter." }) { __typename }
}`;
const SESSIONS = 'GET /clients/:clientId/sessions';

describe.skipIf(process.env['SKIP_CHROMIUM'])('the rows of sessions', { timeout: 60_000 }, () => {
  let gateway: Gateway;
  let notes: LiveNotes;
  shareLiveNotes((...opened) => ([gateway, notes] = opened));
  afterEach(() => gateway.sandbox.clearAnswers());

  const edit = (client: number) =>
    gateway.query(EDIT, { id: gateway.sandbox.noteIdOf(gateway.sandbox.ids.session(client, 0)) });
  const rowOf = (client: number) =>
    notes.page.locator(`[data-id="${gateway.sandbox.ids.session(client, 0)}"]`);
  /** What a row says under its name, and what the opened session says under its own. */
  const factsOf = async (client: number) =>
    (await rowOf(client).locator('.when').textContent())?.split(' · ') ?? [];
  async function factsInDetail(client: number): Promise<readonly string[]> {
    await rowOf(client).locator('a').click();
    const name = await notes.nameOf(client);
    await notes.page.locator('#session #detail-title', { hasText: name }).waitFor();
    const hint = await notes.page.locator('#detail-hint').textContent();
    return hint?.split(' · ') ?? [];
  }

  it('dates a session that no list has shown by its record, not by the event', async () => {
    await edit(20);
    await rowOf(20).waitFor();
    const [date, type] = await factsOf(20);
    expect(date).toMatch(/2025$/);
    expect((await factsInDetail(20)).slice(0, 2)).toEqual([date, type]);
    expect(await notes.rows.first().textContent()).not.toContain(await notes.nameOf(20));
  });

  it('dates a new session by the event that began it if its record has no date', async () => {
    const { ids, emit, answerNext } = gateway.sandbox;
    const sessionId = ids.session(21, 0);
    const row = { sessionId, clientId: ids.client(21), noteType: 'dap' };
    const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
    answerNext(SESSIONS, { body: { data: [row], meta }, times: 1_000 });
    const payload = {
      sessionId,
      clientId: ids.client(21),
      clinicianId: ids.clinician(8),
      clinicId: ids.clinic(0),
      organizationId: ids.organization(0),
      progressNoteId: gateway.sandbox.noteIdOf(sessionId),
    };
    // In another order than they occurred. The first one may be about an old session.
    emit({ eventType: 'progress_note_finalized', timeStamp: '2025-03-05T12:00:00Z', payload });
    await rowOf(21).waitFor();
    expect(await factsOf(21)).toEqual(['DAP']);
    expect(await notes.rows.last().textContent()).toContain(await notes.nameOf(21));
    emit({ eventType: 'progress_note_generated', timeStamp: '2025-03-04T12:00:00Z', payload });
    emit({ eventType: 'transcript_ready', timeStamp: '2025-03-03T12:00:00Z', payload });
    await expect.poll(() => factsOf(21)).toEqual(['Mar 3, 2025', 'DAP']);
    expect((await factsInDetail(21)).slice(0, 2)).toEqual(['Mar 3, 2025', 'DAP']);
  });

  it('shows all parts of a note, whatever its elements look like', async () => {
    const sessionId = gateway.sandbox.ids.session(22, 0);
    const body = {
      progressNoteId: gateway.sandbox.noteIdOf(sessionId),
      sessionId,
      isLoading: false,
      note: [
        { medicationNames: ['Sertraline 50 mg', 'Melatonin'] },
        { diagnosisLabels: [{ code: 'F41.1' }], text: 'Anxiety is better.' },
        { label: { en: 'Plan' }, heading: 'Next steps', content: 'Weekly sessions.' },
      ],
    };
    gateway.sandbox.answerNext('GET /sessions/:sessionId/progress-note', { body, times: 1_000 });
    await notes.openSession(22);
    await notes.page.locator('#note h4').getByText('Next steps').waitFor();
    const text = await notes.page.locator('#note').textContent();
    for (const part of ['Sertraline 50 mg', 'Melatonin', 'F41.1', 'Anxiety is better.'])
      expect(text).toContain(part);
    for (const part of ['Plan', 'Weekly sessions.']) expect(text).toContain(part);
  });

  it('does not take the time of a change for the date of a session', async () => {
    const { ids, answerNext } = gateway.sandbox;
    const sessionId = ids.session(23, 0);
    const dates = { updatedAt: '2026-11-01T09:00:00Z', startedAt: '2020-01-02T12:00:00Z' };
    const row = { ...dates, sessionId, clientId: ids.client(23), noteType: 'dap' };
    const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
    answerNext(SESSIONS, { body: { data: [row], meta }, times: 1_000 });
    await notes.openSession(23);
    await notes.page.locator('#detail-title', { hasText: await notes.nameOf(23) }).waitFor();
    expect(await notes.page.locator('#detail-hint').textContent()).toMatch(/2020/);
  });

  it('names the clinician in every row of a clinic, also after a reload', async () => {
    const { page } = notes;
    const { ids, startSession } = gateway.sandbox;
    await notes.follow({ clinic: ids.clinic(0) });
    await page.reload();
    await notes.live();
    const clinicians = async () =>
      (await page.locator('#sessions .when').allTextContents()).map((text) => text.split(' · ')[2]);
    const names = await Promise.all([5, 0, 7].map((nth) => nameOfClinician(gateway, nth)));
    const listed = await clinicians();
    expect(listed).toContain(`with ${names[1]}`);
    expect(listed).toContain(`with ${names[2]}`);
    expect(listed.every((text) => text?.startsWith('with '))).toBe(true);
    startSession(ids.client(5));
    await expect.poll(async () => (await clinicians())[0]).toBe(`with ${names[0]}`);
    await page.reload();
    await notes.live();
    expect((await clinicians())[0]).toBe(`with ${names[0]}`);
  });

  it('names no clinician whose name is not known', async () => {
    const { page } = notes;
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('query Clinicians')) return route.continue();
      const response = await route.fetch();
      return route.fulfill({
        body: (await response.text()).replaceAll(/Name":"\w+"/g, 'Name":null'),
      });
    });
    await page.reload();
    await notes.live();
    await page.locator('#clinicians').getByText('Name not shown').first().waitFor();
    gateway.sandbox.startSession(gateway.sandbox.ids.client(6));
    await notes.rows.filter({ hasText: 'Today' }).filter({ hasText: '(new)' }).waitFor();
    const facts = await page.locator('#sessions .when').allTextContents();
    expect(facts.filter((text) => text.includes('with'))).toEqual([]);
    await page.unroute('**/graphql');
  });
});
