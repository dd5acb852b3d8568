import { rmSync } from 'node:fs';

import { describe, expect, it, onTestFinished } from 'vitest';

import { delivery } from '../support/events/deliveries.ts';
import { createFilledStore } from '../support/events/open-hub.ts';
import { openGateway } from '../support/gateway.ts';
import { openLiveNotes } from '../support/live-notes.ts';

describe.skipIf(process.env['SKIP_CHROMIUM'])(
  'the scores of a client',
  { timeout: 120_000 },
  () => {
    it('has the newest ones, however long the log is', async () => {
      // One request reads 2,000 events of the log at most, and 50 of the client's.
      const others = Array.from({ length: 2_001 }, () => delivery('transcript_ready'));
      const storeDir = await createFilledStore(others);
      onTestFinished(() => rmSync(storeDir, { recursive: true }));
      await using gateway = await openGateway({ storeDir });
      const { sandbox } = gateway;
      const client = sandbox.ids.client(0);
      for (let count = 0; count < 51; count += 1) sandbox.completeAssessments(client);
      await sandbox.delivered();
      const notes = await openLiveNotes(gateway);
      const { page } = notes;
      await notes.live();
      await notes.openSession(0);
      await page.getByRole('tab', { name: 'Scores' }).click();
      const scores = page.locator('.score');
      await expect.poll(() => scores.count(), { timeout: 20_000 }).toBe(50);
      const times = () =>
        scores
          .locator('time')
          .evaluateAll((all) => all.map((each) => each.getAttribute('datetime')));
      const last = sandbox.events.at(-1);
      expect(Date.parse((await times())[0] ?? '')).toBe(Date.parse(last?.timeStamp ?? ''));
      const values = (await times()).map((time) => Date.parse(time ?? ''));
      expect(values).toEqual(values.toSorted((a, b) => b - a));

      // The next one continues where the log was read to.
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.postData() ?? ''));
      sandbox.completeAssessments(client);
      const newest = () => sandbox.events.at(-1)?.timeStamp ?? '';
      await expect
        .poll(async () => Date.parse((await times())[0] ?? ''))
        .toBe(Date.parse(newest()));
      expect(requests.filter((body) => body.includes('query Scores')).length).toBe(1);
      await notes.close();
    });
  },
);
