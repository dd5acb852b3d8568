import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { openGateway, DETERMINISTIC } from '../support/gateway.ts';

const DOCUMENT = `query($id: ID!, $list: String, $log: EventCursor) {
  clinic(id: $id) { clients(first: 10, after: $list) { pageInfo { endCursor } } }
  eventCursor
  events(after: $log, first: 1) { nodes { cursor } }
}`;
const FIRST = 'the first secret of the ids, long enough';
const SECOND = 'the second secret of the ids, long enough';

let sandbox: Sandbox;
/** Of a gateway with the first secret. */
let before: { readonly list: string; readonly log: string };
const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
beforeAll(async () => {
  sandbox = await openSandbox({ switches: DETERMINISTIC });
  const { list, log } = await asked({ ID_SECRET: FIRST });
  before = { list, log };
});
afterAll(async () => {
  await sandbox.close();
  rmSync(storeDir, { recursive: true });
});

/** By a new gateway each time, on the same Partner API and the same event log unless `env` names another. */
async function asked(env: Readonly<Record<string, string>>, cursors: object = {}) {
  await using gateway = await openGateway({ sandbox, storeDir, env });
  const variables = { id: sandbox.ids.clinic(0), ...cursors };
  const { data, errors } = await gateway.query(DOCUMENT, variables);
  return {
    list: data?.clinic?.clients?.pageInfo.endCursor as string,
    log: data?.eventCursor as string,
    codes: errors?.map(({ extensions }) => extensions.code) ?? [],
  };
}

describe('cursors after a restart', () => {
  it('are valid with the same secret, and are the same', async () => {
    const after = await asked({ ID_SECRET: FIRST }, before);
    expect(after.codes).toEqual([]);
    expect(after.log).toBe(before.log);
  });

  it('are valid if their secret is now the previous one, and otherwise bad input', async () => {
    const rotated = { ID_SECRET: SECOND, ID_SECRET_PREVIOUS: FIRST };
    expect((await asked(rotated, before)).codes).toEqual([]);
    const { codes } = await asked({ ID_SECRET: SECOND }, before);
    expect(codes).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
  });

  it('are valid at an instance that has not been restarted with the new secret, but knows it', async () => {
    const known = { ID_SECRET: FIRST, ID_SECRET_PREVIOUS: SECOND };
    const rotated = { ID_SECRET: SECOND, ID_SECRET_PREVIOUS: FIRST };
    expect((await asked(known, await asked(rotated))).codes).toEqual([]);
  });

  it('are valid without ID_SECRET, while the client secret is rotated', async () => {
    expect((await asked({ WEBHOOK_SECRET_PREVIOUS: FIRST }, before)).codes).toEqual([]);
    expect((await asked({}, before)).codes).toHaveLength(2);
  });

  it('of a log that was lost have expired', async () => {
    const { log } = await asked({});
    const anotherLog = { EVENT_STORE_DIR: join(storeDir, 'another') };
    expect((await asked(anotherLog, { log })).codes).toEqual(['EVENTS_EXPIRED']);
  });

  it('of a list are not valid for the log, and vice versa', async () => {
    const { list, log } = await asked({});
    expect((await asked({}, { list: log, log: list })).codes).toEqual([
      'BAD_USER_INPUT',
      'BAD_USER_INPUT',
    ]);
  });
});
