import { describe, expect, it } from 'vitest';

import { openGateway } from '../support/gateway.ts';
import { openLiveNotes } from '../support/live-notes.ts';

describe.skipIf(process.env['SKIP_CHROMIUM'])('live notes offline', { timeout: 60_000 }, () => {
  it('is not live, and loads after reconnecting what it could not load', async () => {
    await using gateway = await openGateway();
    const notes = await openLiveNotes(gateway);
    const { page } = notes;
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
    await notes.close();
  });
});
