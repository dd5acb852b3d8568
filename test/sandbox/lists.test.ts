import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../support/sandbox/bodies.ts';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await openQuietSandbox();
});
afterAll(() => caller.sandbox.close());

const ask = (path: string) => caller.ask(path);
const rows = async (path: string) => (await ask(path)).body.data;
const first = async (path: string): Promise<Row> => {
  const [row] = await rows(path);
  if (!row) throw new Error('wanted a row, but the list is empty');
  return row;
};
const firstClinic = async () =>
  first(`/organizations/${(await first('/organizations')).id}/clinics`);

describe('the generated partner', () => {
  it('has two organizations with their clinics and programs', async () => {
    const { body } = await ask('/organizations');
    expect(body.meta).toEqual({ totalItems: 2, totalPages: 1, itemsPerPage: 10, currentPage: 1 });
    const counts = await Promise.all(
      body.data.map(async ({ id }) => [
        (await ask(`/organizations/${id}/clinics`)).body.meta.totalItems,
        (await ask(`/organizations/${id}/programs`)).body.meta.totalPages,
      ]),
    );
    expect(counts).toEqual([
      [3, 2],
      [2, 1],
    ]);
  });

  it('has at least 1,500 clients, 400 of them in one clinic', async () => {
    const organizations = await rows('/organizations');
    const clinics = await Promise.all(
      organizations.map(({ id }) => rows(`/organizations/${id}/clinics`)),
    );
    const totals = await Promise.all(
      clinics
        .flat()
        .map(async ({ id }) => (await ask(`/clinics/${id}/clients`)).body.meta.totalItems),
    );
    expect(totals.reduce((sum, total) => sum + total)).toBeGreaterThanOrEqual(1_500);
    expect(Math.max(...totals)).toBeGreaterThanOrEqual(400);
  });

  it('has the same records for the same seed, and others for another', async () => {
    const [same, other] = await Promise.all([openQuietSandbox(), openQuietSandbox({ seed: 2 })]);
    const here = (await ask('/organizations')).body.data;
    expect((await same.ask('/organizations')).body.data).toEqual(here);
    expect((await other.ask('/organizations')).body.data).not.toEqual(here);
    await Promise.all([same.sandbox.close(), other.sandbox.close()]);
  });
});

describe('a page', () => {
  it('holds ten rows, the last one the rest, and none twice', async () => {
    const clinic = await firstClinic();
    const one = (await ask(`/clinics/${clinic.id}/clinicians`)).body;
    const two = (await ask(`/clinics/${clinic.id}/clinicians?page=2`)).body;
    expect(one.meta).toEqual({ totalItems: 14, totalPages: 2, itemsPerPage: 10, currentPage: 1 });
    expect(two.meta.currentPage).toBe(2);
    const ids = [...one.data, ...two.data].map(({ id }) => id);
    expect(ids).toHaveLength(14);
    expect(new Set(ids).size).toBe(14);
  });

  it('past the end is empty, with the right meta', async () => {
    const { status, body } = await ask('/organizations?page=7');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [],
      meta: { totalItems: 2, totalPages: 1, itemsPerPage: 10, currentPage: 7 },
    });
  });

  it.each(['0', '-1', 'x', '1.5', '', '1&page=2'])('rejects page=%s', async (page) => {
    const { status, body } = await ask(`/organizations?page=${page}`);
    expect(status).toBe(400);
    expect(body.error.message.message[0]).toMatch(/^page must/);
  });

  it('keeps its size whatever size is requested', async () => {
    const clinic = await firstClinic();
    const { body } = await ask(`/clinics/${clinic.id}/clients?limit=50&pageSize=50&per_page=50`);
    expect(body.data).toHaveLength(10);
  });
});
