import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

const UNKNOWN_ID = '3f0c8e52-6f4e-4b7a-9d35-0c8b7a3f1e42';

let caller: Caller;
beforeAll(async () => {
  caller = await openQuietSandbox();
});
afterAll(() => caller.sandbox.close());

const ROUTES = [
  ['GET', '/organizations/{id}/clinics'],
  ['GET', '/organizations/{id}/programs'],
  ['GET', '/clinics/{id}/clinicians'],
  ['GET', '/clinics/{id}/clients'],
  ['GET', '/clinics/{id}/assessments'],
  ['GET', '/clinicians/{id}/clients'],
  ['GET', '/clinicians/{id}/magic-edit'],
  ['POST', '/clinicians/{id}/authenticate'],
  ['GET', '/clients/{id}/sessions'],
  ['GET', '/clients/{id}/programs'],
  ['POST', '/clients/{id}/secondary-clinicians'],
  ['GET', '/sessions/{id}/progress-note'],
  ['GET', '/sessions/{id}/transcript'],
  ['GET', '/sessions/{id}/mdm'],
  ['GET', '/progress-notes/{id}'],
  ['PATCH', '/progress-notes/{id}'],
  ['POST', '/progress-notes/{id}/magic-edit'],
  ['POST', '/progress-notes/{id}/regenerate'],
  ['GET', '/assessment-scores/{id}'],
] as const;

describe.each(ROUTES)('%s %s', (method, path) => {
  it.each([UNKNOWN_ID, 'no-uuid', '..%2f', '%'])(
    'answers 404 in an envelope for %s',
    async (id) => {
      const { status, body } = await caller.ask(path.replace('{id}', id), { method });
      expect(status).toBe(404);
      expect(body.error).toMatchObject({
        statusCode: 404,
        message: expect.stringMatching(/not found$/),
      });
    },
  );
});

describe('an id', () => {
  it('is valid for its own type only', async () => {
    const { ids } = caller.sandbox;
    expect((await caller.ask(`/clinics/${ids.organization(0)}/clients`)).status).toBe(404);
    expect((await caller.ask(`/clinicians/${ids.client(0)}/clients`)).status).toBe(404);
    expect((await caller.ask(`/progress-notes/${ids.session(0, 0)}`)).status).toBe(404);
  });

  it('is a version 4 UUID and may be in upper case', async () => {
    const id = caller.sandbox.ids.clinic(0);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await caller.ask(`/clinics/${id.toUpperCase()}/clients`)).status).toBe(200);
  });

  it('of another seed is unknown', async () => {
    const other = await openQuietSandbox({ seed: 99 });
    const path = `/clients/${other.sandbox.ids.client(0)}/sessions`;
    expect((await other.ask(path)).status).toBe(200);
    expect((await caller.ask(path)).status).toBe(404);
    await other.sandbox.close();
  });
});
