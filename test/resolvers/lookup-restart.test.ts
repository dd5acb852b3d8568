import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../sandbox/sandbox.ts';
import { type Gateway, QUIET, openGateway } from '../support/gateway.ts';
import { counted, globalId } from '../support/graph/counted.ts';
import { answer, envelope, openUpstream, pageBody, uuid } from '../support/rest/upstream.ts';

const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-lookup-'));
let sandbox: Sandbox;
let ids: Sandbox['ids'];
/** Another process on the same store: it remembers what lies where, and no answer. */
let gateway: Gateway;
let moved: string;
beforeAll(async () => {
  sandbox = await openSandbox({ switches: QUIET });
  ({ ids } = sandbox);
  moved = sandbox.addClient(ids.clinician(0), 'head');
  const first = await openGateway({ sandbox, storeDir });
  await first.query(
    `{ clinic(id: "${ids.clinic(0)}") { clients(first: 100) { nodes { id } }
         clinicians(first: 14) { nodes { id } } }
       client(id: "${ids.client(27)}") { sessions { nodes { id } } }
       organization(id: "${ids.organization(0)}") { programs(first: 12) { nodes { id } } } }`,
  );
  await first.close();
  sandbox.moveClient(moved, ids.clinician(14));
  gateway = await openGateway({ sandbox, storeDir });
});
afterAll(async () => {
  await gateway.close();
  await sandbox.close();
  rmSync(storeDir, { recursive: true });
});

describe('what was met before a restart', () => {
  it.each([
    ['a client', () => `client(id: "${ids.client(77)}") { email clinic { clinicId } }`],
    ['a clinician', () => `clinician(id: "${ids.clinician(11)}") { email clinic { clinicId } }`],
    ['a session', () => `session(id: "${ids.session(27, 9)}") { raw client { clientId } }`],
    [
      'a program',
      () => `node(id: "${globalId('Program', ids.program(11))}") { ... on Program { name } }`,
    ],
  ])('is found in one call: %s', async (_name, ask) => {
    const { data, calls } = await counted(gateway, `{ found: ${ask()} }`);
    expect(Object.values(data.found)).not.toContain(null);
    expect(calls).toBe(1);
  });

  it('is looked for elsewhere where it has moved to, and found there from then on', async () => {
    const document = `{ client(id: "${moved}") { email clinic { clinicId } } }`;
    const { data } = await counted(gateway, document);
    expect(data.client.email).toEqual(expect.any(String));
    const again = await counted(gateway, document);
    expect(again.data.client.clinic.clinicId).toBe(ids.clinic(1));
  });
});

describe('a client of a list that got shorter meanwhile', () => {
  it('is found although the page where they stood is gone', async () => {
    let total = 35;
    await using upstream = await openUpstream(({ path }, response) => {
      const page = Number(path.split('page=')[1]);
      const isThere = path.startsWith(`/clinics/${uuid(1)}/`) && page <= Math.ceil(total / 10);
      if (!isThere) return answer(response, 404, envelope(404, 'no such page'));
      const rows = [{ id: uuid(7), email: 'seven@example.test' }];
      answer(response, 200, pageBody(total, page, page * 10 >= total ? rows : undefined));
    });
    const env = {
      PARTNER_BASE_URL: upstream.connection.baseUrl,
      EVENT_STORE_DIR: join(storeDir, 'x'),
    };
    const list = `{ clinic(id: "${uuid(1)}") { clients(last: 1) { nodes { clientId email } } } }`;
    await using first = await openGateway({ sandbox, env });
    await first.query(list);
    await first.close();
    total = 8;
    await using second = await openGateway({ sandbox, env });
    const { data } = await second.query(`{ client(id: "${uuid(7)}") { email } }`);
    expect(data.client.email).toBe('seven@example.test');
  });
});
