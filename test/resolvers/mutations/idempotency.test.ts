import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { artifactId } from '../../support/global-id.ts';
import {
  change,
  changes,
  codesOf,
  countOf,
  envelope,
  magicEdit,
  posts,
} from '../../support/mutation/edits.ts';

let gateway: Gateway;
/** How many changes have begun: each is audited before it claims its key. */
let begun = 0;
beforeAll(async () => {
  gateway = await openGateway({
    switches: { newNoteIdEvery: 0 },
    onLog: (line) => void (begun += Number(line.includes(': asked for"'))),
  });
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearAnswers();
  gateway.sandbox.resetCounts();
});

let keys = 0;
const newKey = () => ({ idempotencyKey: `key-${(keys += 1)}` });
const asViewer = async (subject: string, ...grants: readonly string[]) => ({
  authorization: `Bearer ${await tokenFor(grants, { subject })}`,
});

describe.each(posts)('an idempotency key of %s', (name) => {
  it('turns twenty mutations into one call, with twenty equal results', async () => {
    const [noteId, key] = [gateway.sandbox.ids.note(0, 0), newKey()];
    const answer = Promise.withResolvers<void>();
    const held = { heldUntil: answer.promise, body: { nth: 1 } };
    gateway.sandbox.answerNext(changes[name].route, held);
    const before = begun;
    const calls = Array.from({ length: 20 }, () => change(gateway, name, noteId, key));
    await expect.poll(() => begun - before).toBe(20);
    answer.resolve();
    const results = (await Promise.all(calls)).map(({ result }) => JSON.stringify(result));
    expect(new Set(results).size).toBe(1);
    expect(JSON.parse(results[0] ?? '')).toMatchObject({ raw: { nth: 1 } });
    expect(countOf(gateway, name)).toBe(1);
  });

  it('gives a later mutation the first result, raw and cursor included', async () => {
    const [noteId, key] = [gateway.sandbox.ids.note(0, 1), newKey()];
    gateway.sandbox.answerNext(changes[name].route, { body: { nth: 1 } });
    const first = await change(gateway, name, noteId, key);
    const again = await change(gateway, name, noteId, key);
    expect(again.result).toMatchObject({ raw: { nth: 1 }, cursor: first.result.cursor });
    expect(countOf(gateway, name)).toBe(1);
  });

  it('that is null or omitted counts as no key', async () => {
    const noteId = gateway.sandbox.ids.note(0, 2);
    await change(gateway, name, noteId, { idempotencyKey: null });
    await change(gateway, name, noteId, { idempotencyKey: null });
    await change(gateway, name, noteId);
    expect(countOf(gateway, name)).toBe(3);
  });
});

describe('a retry of an edit by the note’s global id', () => {
  it('gets the first result although the note has another id since', async () => {
    const { client, note, session } = gateway.sandbox.ids;
    const id = artifactId(gateway, 'ProgressNote', session(3, 0), client(3));
    const key = newKey();
    const first = await magicEdit(gateway, id, key);
    expect(first.result.type).toBe('ProgressNoteChange');
    gateway.sandbox.answerNext('GET /sessions/:id/progress-note', {
      body: { progressNoteId: note(4, 4), isLoading: true, note: [] },
    });
    const again = await magicEdit(gateway, id, key);
    expect([again.result.type, again.result.cursor]).toEqual([
      'ProgressNoteChange',
      first.result.cursor,
    ]);
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });
});

describe('an idempotency key', () => {
  it('is separate for each viewer', async () => {
    const [noteId, key] = [gateway.sandbox.ids.note(1, 0), newKey()];
    await magicEdit(gateway, noteId, key, await asViewer('a', 'partner'));
    await magicEdit(gateway, noteId, key, await asViewer('b', 'partner'));
    expect(countOf(gateway, 'magicEdit')).toBe(2);
  });

  it('is still the viewer’s when a renewed token has other grants', async () => {
    const { note, client } = gateway.sandbox.ids;
    const key = newKey();
    await magicEdit(gateway, note(1, 1), key, await asViewer('c', 'partner'));
    const more = await asViewer('c', 'partner', `client:${client(1)}`);
    const { result } = await magicEdit(gateway, note(1, 1), key, more);
    expect(result.type).toBe('ProgressNoteChange');
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it('hides its result from a viewer who may no longer read the note', async () => {
    const key = newKey();
    const { note, clinic } = gateway.sandbox.ids;
    await magicEdit(gateway, note(1, 2), key, await asViewer('d', 'partner'));
    const less = await asViewer('d', `clinic:${clinic(1)}`);
    const { result } = await magicEdit(gateway, note(1, 2), key, less);
    expect(result).toEqual({ type: 'NotFound', message: expect.any(String) });
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it('used again with other input is InvalidInput, whatever differs', async () => {
    const { client, note, session } = gateway.sandbox.ids;
    const [noteId, key] = [note(2, 0), newKey()];
    await magicEdit(gateway, noteId, key);
    const others = [
      await magicEdit(gateway, noteId, { ...key, sessionId: session(3, 0), clientId: client(3) }),
      await magicEdit(gateway, noteId, { ...key, userInstructions: 'Something else.' }),
      await magicEdit(gateway, note(2, 1), key),
      await change(gateway, 'regenerate', noteId, key),
    ];
    for (const { result } of others)
      expect(result.issues).toEqual(['"idempotencyKey" was used before, with other input.']);
    expect(gateway.sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('compares inputs by what would be sent', async () => {
    const key = newKey();
    const noteId = gateway.sandbox.ids.note(2, 2);
    await magicEdit(gateway, noteId, { ...key, userInstructions: 'Shorter.' });
    const again = { ...key, userInstructions: '  Shorter.\n' };
    const { result } = await magicEdit(gateway, noteId.toUpperCase(), again);
    expect(result.type).toBe('ProgressNoteChange');
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it('stores a lock as the result', async () => {
    const [locked, key] = [gateway.sandbox.ids.note(3, 5), newKey()];
    await magicEdit(gateway, locked, key);
    const { result } = await magicEdit(gateway, locked, key);
    expect(result.type).toBe('ProgressNoteLocked');
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it('can be used again after a call that was rejected', async () => {
    const [noteId, key] = [gateway.sandbox.ids.note(4, 0), newKey()];
    gateway.sandbox.answerNext(changes.magicEdit.route, {
      status: 429,
      headers: { 'retry-after': '3600' },
    });
    expect(codesOf(await magicEdit(gateway, noteId, key))).toEqual(['UPSTREAM_RATE_LIMITED']);
    const { result } = await magicEdit(gateway, noteId, key);
    expect(result.type).toBe('ProgressNoteChange');
    expect(countOf(gateway, 'magicEdit')).toBe(2);
  });

  it.each([
    ['a note without an id', 'GET /sessions/:id/progress-note', 200, { isLoading: true, note: [] }],
    ['a note that is not found', 'GET /sessions/:id/progress-note', 404, envelope(404, 'none')],
    ['an edit that finds no note', changes.magicEdit.route, 404, envelope(404, 'none')],
    ['an edit that the Partner API rejects', changes.magicEdit.route, 400, envelope(400, 'no')],
  ])('can be used again after a call that had no effect: %s', async (_, route, status, body) => {
    const { client, session } = gateway.sandbox.ids;
    const id = artifactId(gateway, 'ProgressNote', session(7, 0), client(7));
    const key = newKey();
    gateway.sandbox.answerNext(route, { times: 1, status, body });
    const { result } = await magicEdit(gateway, id, key);
    expect(result.type).toMatch(/^(InvalidInput|NotFound)$/);
    expect((await magicEdit(gateway, id, key)).result.type).toBe('ProgressNoteChange');
  });

  it('whose first call has an unknown outcome sends nothing a second time', async () => {
    const [noteId, key] = [gateway.sandbox.ids.note(5, 1), newKey()];
    gateway.sandbox.answerNext(changes.magicEdit.route, { status: 500, takesEffect: true });
    expect(codesOf(await magicEdit(gateway, noteId, key))).toEqual(['OUTCOME_UNKNOWN']);
    const { errors } = await magicEdit(gateway, noteId, key);
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('await its event, or use another key'),
        extensions: { code: 'OUTCOME_UNKNOWN' },
      },
    ]);
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it('stores the outcome although its client has disconnected', async () => {
    const [noteId, key] = [gateway.sandbox.ids.note(5, 0), newKey()];
    const answer = Promise.withResolvers<void>();
    const held = { heldUntil: answer.promise, body: { nth: 1 } };
    gateway.sandbox.answerNext(changes.magicEdit.route, held);
    const leaving = new AbortController();
    const { authorization } = await asViewer('tester', 'partner');
    const input = { progressNoteId: noteId, ...changes.magicEdit.input, ...key };
    const call = fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ query: changes.magicEdit.document, variables: { input } }),
    });
    await expect.poll(() => countOf(gateway, 'magicEdit')).toBe(1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    answer.resolve();
    const { result } = await magicEdit(gateway, noteId, key);
    expect(result).toMatchObject({ raw: { nth: 1 } });
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });
});

describe('an idempotency key, over a restart', () => {
  it('keeps its result, or its unknown outcome', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
    const { sandbox } = gateway;
    const [known, unknown] = [newKey(), newKey()];
    const [a, b] = [sandbox.ids.note(6, 0), sandbox.ids.note(6, 1)];
    {
      await using first = await openGateway({ sandbox, storeDir });
      await magicEdit(first, a, known);
      sandbox.answerNext(changes.magicEdit.route, { reset: 'afterReceiving', takesEffect: true });
      await magicEdit(first, b, unknown);
    }
    await using second = await openGateway({ sandbox, storeDir });
    expect((await magicEdit(second, a, known)).result.type).toBe('ProgressNoteChange');
    expect(codesOf(await magicEdit(second, b, unknown))).toEqual(['OUTCOME_UNKNOWN']);
    expect(countOf(second, 'magicEdit')).toBe(2);
    rmSync(storeDir, { recursive: true, force: true });
  });
});
