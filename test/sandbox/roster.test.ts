import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

let caller: Caller;
beforeEach(async () => {
  caller = await openQuietSandbox();
});
afterEach(() => caller.sandbox.close());

async function idsIn(list: string): Promise<readonly string[]> {
  const { meta, data } = (await caller.ask(list)).body;
  const rest = await Promise.all(
    [...Array(Math.max(0, meta.totalPages - 1)).keys()].map((n) =>
      caller.ask(`${list}?page=${n + 2}`),
    ),
  );
  return [...data, ...rest.flatMap(({ body }) => body.data)].map(({ id }) => id);
}
const ofClinician = (nth: number) =>
  idsIn(`/clinicians/${caller.sandbox.ids.clinician(nth)}/clients`);
const ofClinic = (nth: number) => idsIn(`/clinics/${caller.sandbox.ids.clinic(nth)}/clients`);

describe('the roster', () => {
  it('has a clinician without clients', async () => {
    expect(await ofClinician(13)).toEqual([]);
  });

  it('lists every client of a clinic under one of its clinicians', async () => {
    const lists = await Promise.all([...Array(14).keys()].map(ofClinician));
    expect(new Set(lists.flat())).toEqual(new Set(await ofClinic(0)));
  });

  it.each(['head', 'middle', 'tail'] as const)(
    'adds a new client at the %s of both lists',
    async (place) => {
      const { sandbox } = caller;
      const added = sandbox.addClient(sandbox.ids.clinician(0), place);
      for (const list of [await ofClinician(0), await ofClinic(0)]) {
        const last = list.length - 1;
        const wanted = { head: 0, middle: Math.floor(last / 2), tail: last }[place];
        expect(list.indexOf(added)).toBe(wanted);
      }
      expect((await caller.ask(`/clients/${added}/sessions`)).body.meta.totalItems).toBe(0);
    },
  );

  it('removes a client together with their sessions and notes', async () => {
    const { sandbox } = caller;
    sandbox.removeClient(sandbox.ids.client(0));
    expect(await ofClinic(0)).not.toContain(sandbox.ids.client(0));
    expect((await caller.ask(`/clients/${sandbox.ids.client(0)}/sessions`)).status).toBe(404);
    expect((await caller.ask(`/progress-notes/${sandbox.ids.note(0, 0)}`)).status).toBe(404);
  });

  it('moves a client to a clinician of another clinic, and keeps their sessions', async () => {
    const { sandbox } = caller;
    const moved = sandbox.ids.client(0);
    sandbox.moveClient(moved, sandbox.ids.clinician(20));
    expect(await ofClinic(0)).not.toContain(moved);
    expect(await ofClinician(0)).not.toContain(moved);
    expect((await ofClinic(1)).at(-1)).toBe(moved);
    expect((await ofClinician(20)).at(-1)).toBe(moved);
    expect((await caller.ask(`/sessions/${sandbox.ids.session(0, 0)}/progress-note`)).status).toBe(
      200,
    );
    expect(sandbox.startSession(moved).clinicianId).toBe(sandbox.ids.clinician(20));
  });
});

const assign = (body: unknown) =>
  caller.ask(`/clients/${caller.sandbox.ids.client(0)}/secondary-clinicians`, {
    method: 'POST',
    body,
  });

describe('secondary clinicians', () => {
  it('are assigned once, however often they are sent', async () => {
    const [one, two] = [caller.sandbox.ids.clinician(3), caller.sandbox.ids.clinician(4)];
    expect((await assign({ clinicianIds: [one, one] })).body.assigned).toEqual([one]);
    expect((await assign({ clinicianIds: [one, two] })).body).toMatchObject({
      assigned: [two],
      skipped: [one],
    });
  });

  it.each([undefined, {}, { clinicianIds: 'x' }, { clinicianIds: [5] }, { clinicianIds: ['x'] }])(
    'are rejected as %j',
    async (body) => {
      const answer = await assign(body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.message.message[0]).toMatch(/clinicianIds/);
    },
  );
});
