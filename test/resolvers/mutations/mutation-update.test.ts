import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, post, tokenFor } from '../../support/gateway.ts';
import { change, changes, countOf } from '../../support/mutation/edits.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());
beforeEach(() => gateway.sandbox.resetCounts());

/** As text, since an object literal can't have such a key. */
const HOSTILE =
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"note":["x"]}';

const sentBody = () =>
  gateway.sandbox.requests.find(({ method }) => method === 'PATCH')?.body as object;

describe('an update', () => {
  it('sends the patch unchanged, and returns the updated note', async () => {
    const patch = { note: ['One.', { any: [1, null] }], other: { deep: { down: '✓' } } };
    const { result } = await change(gateway, 'update', gateway.sandbox.ids.note(0, 0), { patch });
    expect(result.progressNote.note).toEqual(patch.note);
    expect(sentBody()).toEqual(patch);
    expect(countOf(gateway, 'update')).toBe(1);
  });

  it('sends an empty object', async () => {
    const note = gateway.sandbox.ids.note(0, 1);
    const { result } = await change(gateway, 'update', note, { patch: {} });
    expect(result.type).toBe('ProgressNoteChange');
    expect(sentBody()).toEqual({});
  });

  it.each([
    ['a list', []],
    ['a text', 'note'],
  ])('rejects %s as a patch, without a call', async (_, patch) => {
    const note = gateway.sandbox.ids.note(0, 0);
    const { result } = await change(gateway, 'update', note, { patch });
    expect(result.issues).toEqual(['"patch" must be a JSON object.']);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it.each(['1e400', '-1e400', '9007199254740993'])(
    'rejects the number %s in a patch, from a variable and from the document, without a call',
    async (number) => {
      const progressNoteId = gateway.sandbox.ids.note(0, 0);
      const authorization = `Bearer ${await tokenFor(['partner'])}`;
      const query = JSON.stringify(changes.update.document);
      const patch = `{"note":[{"a":${number}}]}`;
      const body = `{"query":${query},"variables":{"input":{"progressNoteId":"${progressNoteId}","patch":${patch}}}}`;
      const { data } = await post(gateway.url, body, { authorization });
      const issues = ['"patch" must have no number beyond 2^53: it would lose digits.'];
      expect(data.result.issues).toEqual(issues);
      const { data: literal } = await gateway.query(`mutation { result: updateProgressNote(input: {
        progressNoteId: "${progressNoteId}", patch: { note: [{ a: ${number} }] } }) {
        ... on InvalidInput { issues } } }`);
      expect(literal.result.issues).toEqual(issues);
      expect(gateway.sandbox.countOf()).toBe(0);
    },
  );

  it('rejects a patch of null before anything is executed', async () => {
    const note = gateway.sandbox.ids.note(0, 0);
    const { errors } = await change(gateway, 'update', note, { patch: null });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('sends hostile keys as data, from a variable and from the document', async () => {
    const note = gateway.sandbox.ids.note(0, 2);
    const authorization = `Bearer ${await tokenFor(['partner'])}`;
    const variables = `{"input":{"progressNoteId":"${note}","patch":${HOSTILE}}}`;
    const query = JSON.stringify(changes.update.document);
    await post(gateway.url, `{"query":${query},"variables":${variables}}`, { authorization });
    expect(JSON.stringify(sentBody())).toBe(HOSTILE);

    gateway.sandbox.resetCounts();
    const literal = HOSTILE.replaceAll(/"(\w+)":/g, '$1:');
    await gateway.query(`mutation { updateProgressNote(input: {
      progressNoteId: "${note}", patch: ${literal} }) { __typename } }`);
    expect(JSON.stringify(sentBody())).toBe(HOSTILE);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
