import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
const lines: string[] = [];
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(line) });
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

const NOTE = 'query Note($id: ID!) { progressNote(id: $id) { progressNoteId note } }';
const LIST = `query List($id: ID!) {
  clinic(id: $id) { clients(first: 100) { nodes { sessions(first: 10) { nodes { progressNote { progressNoteId } } } } } }
}`;

async function viewer(grant: string) {
  const authorization = `Bearer ${await tokenFor([grant])}`;
  return (document: string, id: string) => gateway.query(document, { id }, { authorization });
}

/** Whether the last answer was given again without being made. */
function wasRepeated(): boolean {
  const audit = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'audit');
  return audit.at(-1)?.outcome === 'read again';
}

describe("an answer that rests on what the lineage knows of the viewer's own", () => {
  it('is remembered as any other', async () => {
    const ask = await viewer(`clinic:${ids.clinic(0)}`);
    await ask(LIST, ids.clinic(0));
    const first = await ask(NOTE, ids.note(0, 1));
    expect(first.data.progressNote.progressNoteId).toBe(ids.note(0, 1));
    await ask(NOTE, ids.note(0, 1));
    const again = await ask(NOTE, ids.note(0, 1));
    expect(again.data).toEqual(first.data);
    expect(again.extensions.upstream).toMatchObject({ calls: 0, cached: 1 });
    expect(wasRepeated()).toBe(true);
  });

  it('is made anew once the lineage learns something else of it', async () => {
    const { sandbox } = gateway;
    const ask = await viewer(`clinic:${ids.clinic(0)}`);
    await ask(LIST, ids.clinic(0));
    for (let i = 0; i < 3; i += 1) await ask(NOTE, ids.note(1, 1));
    expect(wasRepeated()).toBe(true);
    sandbox.moveClient(ids.client(1), ids.clinician(9));
    sandbox.startSession(ids.client(1));
    sandbox.settle();
    await sandbox.delivered();
    await expect
      .poll(async () => {
        await ask(NOTE, ids.note(1, 1));
        return wasRepeated();
      })
      .toBe(false);
  });

  it('is not kept where the viewer was refused', async () => {
    const ask = await viewer(`client:${ids.client(5)}`);
    for (let i = 0; i < 3; i += 1)
      expect((await ask(NOTE, ids.note(2, 1))).data.progressNote).toBeNull();
    expect(wasRepeated()).toBe(false);
  });
});
