import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type NodeId, createGlobalIds } from '../../src/schema/global-id.ts';
import type { Uuid } from '../../src/uuid.ts';
import { viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { artifactId, sessionId } from '../support/global-id.ts';
import { counted, failures } from '../support/graph/counted.ts';
import { allChanges, change } from '../support/mutation/edits.ts';

const uuid = () => randomUUID() as Uuid;
const SECRET = 'a secret that signs ids in this test only';

describe('a global id', () => {
  const nodes: readonly NodeId[] = [
    { type: 'Organization', id: uuid() },
    { type: 'Session', id: uuid(), clientId: uuid() },
    { type: 'Session', id: uuid(), clientId: undefined },
    { type: 'ProgressNote', sessionId: uuid(), clientId: uuid() },
    { type: 'ProgressNote', id: uuid() },
    { type: 'MDM', sessionId: uuid(), clientId: undefined },
    { type: 'AssessmentScore', id: uuid(), clientId: uuid() },
    { type: 'Assessment', clinicId: uuid(), id: 'phq9:ü' },
    { type: 'MagicEdit', clinicianId: uuid(), id: uuid() },
  ];
  const ids = createGlobalIds(SECRET);

  it.each(nodes)('decodes to the record that it was made for: %j', (node) => {
    expect(ids.decode(ids.encode(node))).toEqual(node);
    expect(ids.encode(node)).toBe(ids.encode(node));
  });

  it.each(nodes)('has one encoding, and is rejected with any byte changed: %j', (node) => {
    const text = ids.encode(node);
    for (const other of [`${text}=`, `${text}A`, ` ${text}`, text.slice(0, -2)])
      expect(ids.decode(other)).toBeUndefined();
    if (node.type === 'Organization') return;
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(ids.decode(changed.toString('base64url'))).toBeUndefined();
    }
  });

  it('is rejected without its parent, or with another’s', () => {
    const [one, two] = [nodes[1]!, { type: 'Session', id: uuid(), clientId: uuid() } as const];
    const [a, b] = [one, two].map((node) => Buffer.from(ids.encode(node), 'base64url'));
    const shortened = Buffer.concat([a!.subarray(0, 17), a!.subarray(-8)]);
    const swapped = Buffer.concat([a!.subarray(0, 17), b!.subarray(17)]);
    const unsigned = a!.subarray(0, -8);
    for (const forged of [shortened, swapped, unsigned, a!.subarray(0, 17)])
      expect(ids.decode(forged.toString('base64url'))).toBeUndefined();
  });

  it('of a session, or of what belongs to it, is rejected with the type of another', () => {
    const [id, clientId] = [uuid(), uuid()];
    const types = ['Session', 'ProgressNote', 'Transcript', 'MDM'] as const;
    const all = types.map((type) => {
      const text = ids.encode({ type, id, sessionId: id, clientId });
      expect(ids.decode(text)?.type).toBe(type);
      return Buffer.from(text, 'base64url');
    });
    for (const one of all)
      for (const other of all) {
        const mixed = Buffer.concat([one.subarray(0, 1), other.subarray(1)]).toString('base64url');
        expect(ids.decode(mixed) !== undefined).toBe(one === other);
      }
  });

  it('is accepted under the previous secret, and under no other', () => {
    const text = ids.encode(nodes[1]!);
    expect(createGlobalIds('another secret', SECRET).decode(text)).toEqual(nodes[1]);
    expect(createGlobalIds('another secret', 'a third').decode(text)).toBeUndefined();
  });
});

describe('an id that a client sends', () => {
  let gateway: Gateway;
  let ids: Gateway['sandbox']['ids'];
  beforeAll(async () => {
    gateway = await openGateway();
    ({ ids } = gateway.sandbox);
  });
  afterAll(() => gateway.close());

  const forged = (): [string, string][] => {
    const genuine = sessionId(gateway, ids.session(0, 0), ids.client(0));
    const bytes = Buffer.from(genuine, 'base64url');
    const otherClient = Buffer.from(bytes);
    Buffer.from(ids.client(1).replaceAll('-', ''), 'hex').copy(otherClient, 17);
    const otherType = Buffer.from(bytes);
    otherType[0] = 'P'.charCodeAt(0);
    return [
      ['shortened', bytes.subarray(0, 17).toString('base64url')],
      ['of another client', otherClient.toString('base64url')],
      ['of another type', otherType.toString('base64url')],
      ['without its signature', bytes.subarray(0, -8).toString('base64url')],
      [
        'signed elsewhere',
        createGlobalIds(SECRET).encode({
          type: 'Session',
          id: ids.session(0, 0),
          clientId: ids.client(0) as Uuid,
        }),
      ],
    ];
  };

  it('is rejected if it is forged, like a malformed one, before any call', async () => {
    const ask = await viewerWith(gateway, [`client:${ids.client(1)}`]);
    for (const [how, id] of forged()) {
      const answer = await ask(
        `query($id: ID!) { node(id: $id) { id } session(id: $id) { id } progressNote(id: $id) { id } }`,
        { id },
      );
      expect([how, failures(answer)]).toEqual([
        how,
        ['node: BAD_USER_INPUT', 'session: BAD_USER_INPUT', 'progressNote: BAD_USER_INPUT'],
      ]);
      expect(answer.extensions.upstream.calls).toBe(0);
    }
  });

  it('is accepted however long the identifier in it is', async () => {
    const assessment = { id: 'phq9'.repeat(250), name: 'long' };
    const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
    const body = { data: [assessment], meta };
    gateway.sandbox.answerNext('GET /clinics/:clinicId/assessments', { times: 2, body });
    const list = `{ clinic(id: "${ids.clinic(3)}") { assessments { nodes { id } } } }`;
    const { id } = (await counted(gateway, list)).data.clinic.assessments.nodes[0];
    const NODE = 'query($id: ID!) { node(id: $id) { id ... on Assessment { name } } }';
    expect((await counted(gateway, NODE, { id })).data.node).toEqual({ id, name: 'long' });
    gateway.sandbox.clearAnswers();
  });

  it('is rejected for a note of another session or client than the arguments name', async () => {
    const { client, session } = ids;
    const note = artifactId(gateway, 'ProgressNote', session(0, 0), client(0));
    const own = { sessionId: session(0, 0), clientId: client(0) };
    const READ = `query($id: ID!, $sessionId: ID, $clientId: ID) {
      progressNote(id: $id, sessionId: $sessionId, clientId: $clientId) { note } }`;
    for (const other of [{ sessionId: session(1, 0) }, { clientId: client(1) }]) {
      for (const args of [other, { ...own, ...other }]) {
        const read = await counted(gateway, READ, { id: note, ...args });
        expect([failures(read), read.calls]).toEqual([['progressNote: BAD_USER_INPUT'], 0]);
        for (const name of allChanges)
          expect(failures(await change(gateway, name, note, args))).toEqual([
            'result: BAD_USER_INPUT',
          ]);
      }
    }
    expect((await counted(gateway, READ, { id: note, ...own })).errors).toBeUndefined();
  });

  it('contains no parent that no list has confirmed', async () => {
    const wrong = `{ session(id: "${ids.session(0, 0)}", clientId: "${ids.client(1)}") { id }
      progressNote(id: "${ids.note(0, 0)}") { id } }`;
    const { data } = await counted(gateway, wrong);
    expect(data.session).toBeNull();
    const right = `{ session(id: "${ids.session(0, 0)}", clientId: "${ids.client(0)}") { id progressNote { id } }
      bare: session(id: "${ids.session(0, 0)}") { id }
      progressNote(id: "${ids.note(0, 0)}", sessionId: "${ids.session(0, 0)}", clientId: "${ids.client(0)}") { id } }`;
    const confirmed = (await counted(gateway, right)).data;
    expect(confirmed.session.id).toBe(sessionId(gateway, ids.session(0, 0), ids.client(0)));
    expect(confirmed.bare.id).toBe(sessionId(gateway, ids.session(0, 0)));
    const note = artifactId(gateway, 'ProgressNote', ids.session(0, 0), ids.client(0));
    expect([confirmed.session.progressNote.id, confirmed.progressNote.id]).toEqual([note, note]);
  });

  it('of a note, without its client, is completed by the argument', async () => {
    const query = `query ($id: ID!, $session: ID, $client: ID) {
      progressNote(id: $id, sessionId: $session, clientId: $client) { id progressNoteId } }`;
    const [id, session, client] = [ids.note(0, 0), ids.session(0, 0), ids.client(0)];
    const partner = await viewerWith(gateway, ['partner']);
    const short = (await partner(query, { id, session })).data.progressNote.id;
    const own = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    const byBareId = await own(query, { id, session, client });
    const byShortId = await own(query, { id: short, client });
    expect(byShortId).toMatchObject({ data: { progressNote: { progressNoteId: id } } });
    expect(byShortId.data).toEqual(byBareId.data);
  });

  it('is always the short one for a viewer whose grant names the session', async () => {
    const grants = [`session:${ids.session(0, 0)}`, `client:${ids.client(0)}`];
    const ask = await viewerWith(gateway, grants);
    const { data } = await ask(
      `query($id: ID!) { viewer { sessions { id } } client(id: $id) { sessions(first: 1) { nodes { id progressNote { id } } } } }`,
      { id: ids.client(0) },
    );
    const short = sessionId(gateway, ids.session(0, 0));
    expect(data.viewer.sessions).toEqual([{ id: short }]);
    expect(data.client.sessions.nodes[0]).toEqual({
      id: short,
      progressNote: { id: artifactId(gateway, 'ProgressNote', ids.session(0, 0)) },
    });
  });

  it('is not shared between viewers by a cached row', async () => {
    const SESSIONS = 'query($id: ID!) { client(id: $id) { sessions { nodes { id } } } }';
    const [short, long] = [undefined, ids.client(7)].map((clientId) =>
      sessionId(gateway, ids.session(7, 0), clientId),
    );
    const client = `client:${ids.client(7)}`;
    const withSession = await viewerWith(gateway, [`session:${ids.session(7, 0)}`, client]);
    const withClient = await viewerWith(gateway, [client]);
    for (const [ask, id] of [
      [withSession, short],
      [withClient, long],
      [withSession, short],
    ] as const) {
      const { data } = await ask(SESSIONS, { id: ids.client(7) });
      expect(data.client.sessions.nodes[0].id).toBe(id);
    }
  });
});
