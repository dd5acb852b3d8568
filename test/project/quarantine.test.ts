import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { openSandbox } from '../../sandbox/sandbox.ts';
import { openEmbedded } from '../../src/store/sqlite/open.ts';
import { delivery } from '../support/events/deliveries.ts';
import { DETERMINISTIC, openGateway } from '../support/gateway.ts';

const script = new URL('../../scripts/quarantine.ts', import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
afterAll(() => rmSync(dir, { recursive: true }));

const quarantine = (...args: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [script, ...args],
      { env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], EVENT_STORE_DIR: dir } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

it.each([['reply'], ['replay', 'all']])('prints its usage for %j', async (...args) => {
  const { code, stdout, stderr } = await quarantine(...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Usage:\n {2}npm run quarantine .* lists/);
  expect(stderr).toContain('npm run quarantine -- replay');
});

it('creates no store where there is none', async () => {
  const { code, stdout, stderr } = await quarantine();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `EVENT_STORE_DIR must be the directory of a store, but ${dir} has no events.db\n`,
  );
  expect(readdirSync(dir)).toEqual([]);
});

it('replays events as new ones, and their notes are locked and their transcriptions failed', async () => {
  const sandbox = await openSandbox({ switches: { ...DETERMINISTIC, transcriptMs: 60_000 } });
  const { ids } = sandbox;
  const { sessionId } = sandbox.startSession(ids.client(0), { prescriber: false });
  const finalized = { sessionId: ids.session(0, 0), progressNoteId: ids.note(0, 0) };
  const DAY_MS = 24 * 3_600_000;
  const open = () => openEmbedded(dir, { retentionMs: 7 * DAY_MS });
  {
    await using store = await open();
    for (const held of [
      delivery('progress_note_finalized', finalized),
      delivery('session_transcript_error', { sessionId }),
    ])
      await store.quarantine.add({
        receivedAt: Date.now() - 8 * DAY_MS,
        reason: 'unknown eventType',
        body: JSON.stringify(held),
      });
  }
  const { stdout: listed } = await quarantine();
  expect(listed).toMatch(/^(\S+ {2}unknown eventType\n){2}2 in quarantine\n$/);
  expect((await quarantine('replay')).stdout).toBe('2 replayed as 2 new events; 0 left\n');
  {
    await using store = await open();
    await store.log.trim();
    expect((await store.log.read(0, 10)).events).toHaveLength(2);
  }
  await using gateway = await openGateway({ sandbox, storeDir: dir });
  const { data } = await gateway.query(
    `query($locked: ID!, $failed: ID!, $client: ID!) {
      locked: session(id: $locked, clientId: $client) { progressNote { isLocked } }
      failed: session(id: $failed, clientId: $client) { transcriptStatus } }`,
    { locked: finalized.sessionId, failed: sessionId, client: ids.client(0) },
  );
  expect(data).toEqual({
    locked: { progressNote: { isLocked: true } },
    failed: { transcriptStatus: 'FAILED' },
  });
  await sandbox.close();
});
