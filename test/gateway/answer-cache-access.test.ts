import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';
import { artifactId } from '../support/global-id.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
const lines: string[] = [];
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(line) });
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

const NOTE = 'query Note($id: ID!) { progressNote(id: $id) { progressNoteId note } }';

async function viewer(grant: string) {
  const authorization = `Bearer ${await tokenFor([grant])}`;
  return (document: string, id: string) => gateway.query(document, { id }, { authorization });
}

/** Whether the last answer came from the answer cache. */
function cameFromCache(): boolean {
  const audit = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'audit');
  return audit.at(-1)?.outcome === 'read again';
}

const noteId = (nth: number) =>
  artifactId(gateway, 'ProgressNote', ids.session(nth, 1), ids.client(nth));

describe('an answer that needed an access check', () => {
  it('is cached like any other', async () => {
    const ask = await viewer(`clinic:${ids.clinic(0)}`);
    const first = await ask(NOTE, noteId(0));
    expect(first.data.progressNote.progressNoteId).toBe(ids.note(0, 1));
    await ask(NOTE, noteId(0));
    const again = await ask(NOTE, noteId(0));
    expect(again.data).toEqual(first.data);
    expect(again.extensions.upstream.calls).toBe(0);
    expect(cameFromCache()).toBe(true);
  });

  it('is not cached where access was denied', async () => {
    const ask = await viewer(`client:${ids.client(5)}`);
    for (let i = 0; i < 3; i += 1)
      expect((await ask(NOTE, noteId(2))).data.progressNote).toBeNull();
    expect(cameFromCache()).toBe(false);
  });
});
