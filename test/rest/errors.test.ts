import { describe, expect, it } from 'vitest';
import { recordEndpoints } from '../../src/rest/records.ts';
import { NoteLocked, PartnerRejected } from '../../src/rest/errors.ts';
import { createUsage } from '../../src/rest/partner.ts';
import { writes } from '../../src/rest/endpoints.ts';
import { codeOf, failureOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import { answer, envelope, pageBody } from '../support/rest/upstream.ts';
import type { Script } from '../support/rest/upstream.ts';

const always =
  (status: number, body: unknown): Script =>
  (_, response) =>
    answer(response, status, body);

const html =
  (status: number): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<html>go away</html>');
  };

const jsonAsHtml: Script = (_, response) =>
  answer(response, 200, pageBody(1, 1), { 'content-type': 'text/html' });

const empty =
  (status: number): Script =>
  (_, response) => {
    response.writeHead(status);
    response.end();
  };

describe('the error of a status and a body', () => {
  it.each<[string, Script, string, number]>([
    ['gateway 403 Forbidden', always(403, { message: 'Forbidden' }), 'UPSTREAM_CREDENTIALS', 1],
    [
      'gateway 403 Missing Authentication Token',
      always(403, { message: 'Missing Authentication Token' }),
      'UPSTREAM_ROUTE',
      1,
    ],
    ['application 403, a string', always(403, envelope(403, 'No')), 'UPSTREAM_CREDENTIALS', 1],
    ['403 HTML', html(403), 'UPSTREAM_BAD_RESPONSE', 1],
    ['403 empty', empty(403), 'UPSTREAM_BAD_RESPONSE', 1],
    ['400 HTML', html(400), 'UPSTREAM_BAD_RESPONSE', 1],
    ['404 HTML', html(404), 'UPSTREAM_BAD_RESPONSE', 1],
    ['404 of the application', always(404, envelope(404, 'gone')), 'NOT_FOUND', 1],
    ['404 empty', empty(404), 'NOT_FOUND', 1],
    ['409', always(409, envelope(409, 'already')), 'BAD_USER_INPUT', 1],
    ['409 HTML', html(409), 'UPSTREAM_BAD_RESPONSE', 1],
    ['409 empty', empty(409), 'BAD_USER_INPUT', 1],
    ['418', always(418, envelope(418, 'teapot')), 'UPSTREAM_BAD_RESPONSE', 1],
    ['500', always(500, envelope(500, 'oops')), 'UPSTREAM_UNAVAILABLE', 3],
    ['502 HTML', html(502), 'UPSTREAM_UNAVAILABLE', 3],
    ['503 empty', empty(503), 'UPSTREAM_UNAVAILABLE', 3],
    ['504', always(504, { message: 'Endpoint request timed out' }), 'UPSTREAM_UNAVAILABLE', 3],
    ['200 with JSON that is called HTML', jsonAsHtml, 'UPSTREAM_BAD_RESPONSE', 1],
  ])('recognises %s', async (_, script, code, calls) => {
    await using setup = await setUp(script);
    const page = loadersOf(setup.partner).page({ name: 'clientsOfClinic', id: id(1) }, 1);
    expect(await codeOf(page)).toBe(code);
    expect(setup.upstream.seen).toHaveLength(calls);
    expect(setup.upstream.authenticated).toBe(1);
  });

  it.each([
    ['a string', 'Progress note is locked'],
    ['an object', { message: ['Progress note is locked'], error: 'Forbidden', statusCode: 403 }],
    ['an object with a string', { message: 'Progress note is locked' }],
  ])('recognises a lock in %s, and keeps the token', async (_, message) => {
    await using setup = await setUp(always(403, envelope(403, message)));
    const { partner, upstream } = setup;
    const edit = () => partner.send(writes.magicEdit, id(1), {}, createUsage());
    expect(await failureOf(edit())).toBeInstanceOf(NoteLocked);
    await failureOf(edit());
    expect(upstream.authenticated).toBe(1);
  });

  it.each([
    ['strings', { message: ['a must be', 'b must'], statusCode: 400 }, ['a must be', 'b must']],
    ['a plain string', 'phone should', ['phone should']],
    ['something else', 5, []],
  ])('lists the issues of a 400 from %s', async (_, message, issues) => {
    await using setup = await setUp(always(400, envelope(400, message)));
    const failure = await failureOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    expect(failure).toBeInstanceOf(PartnerRejected);
    expect(failure).toMatchObject({ code: 'BAD_USER_INPUT', issues });
  });

  it('has at most twenty issues of 500 characters', async () => {
    const messages = Array.from({ length: 30 }, (_, n) => `${n} `.padEnd(1000, '\u{1f642}'));
    const issuesOf = async (message: unknown) => {
      await using setup = await setUp(always(400, envelope(400, message)));
      const failure = await failureOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
      return failure instanceof PartnerRejected ? failure.issues : [];
    };
    const issues = await issuesOf({ message: messages });
    expect(issues).toHaveLength(20);
    for (const issue of issues) expect(issue.length).toBeLessThanOrEqual(500);
    expect(issues.every((issue) => issue.isWellFormed())).toBe(true);
    expect(await issuesOf('x'.repeat(1024 * 1024))).toEqual(['x'.repeat(500)]);
    expect(await issuesOf('x'.repeat(500))).toEqual(['x'.repeat(500)]);
  });

  it('names the route template in its message and nothing of the request or the response', async () => {
    await using setup = await setUp(always(400, envelope(400, ['name must not be Jane'])));
    const failure = await failureOf(
      loadersOf(setup.partner).page(
        { name: 'clientsOfClinic', id: id(7), filter: { name: 'Jane' } },
        1,
      ),
    );
    expect(failure.message).toContain('/clinics/:clinicId/clients');
    expect(failure.message).not.toMatch(/Jane|3f0a6e1c|127\.0\.0\.1/);
  });
});

describe('429', () => {
  it('is retried after a short wait', async () => {
    await using setup = await setUp(({ number }, response) =>
      number === 1
        ? answer(response, 429, { message: 'Limit Exceeded' }, { 'retry-after': '0' })
        : answer(response, 200, { isLoading: false, note: [] }),
    );
    expect(await loadersOf(setup.partner).record(recordEndpoints.note, id(1))).toMatchObject({
      isLoading: false,
    });
    expect(setup.upstream.seen).toHaveLength(2);
  });

  it('fails at once, with the time to retry, if the wait is too long', async () => {
    await using setup = await setUp((_, response) =>
      answer(response, 429, { message: 'Limit Exceeded' }, { 'retry-after': '60' }),
    );
    const failure = await failureOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    expect(failure).toMatchObject({ code: 'UPSTREAM_RATE_LIMITED', retryAfter: 60 });
    expect(setup.upstream.seen).toHaveLength(1);
  });

  it('takes the first of two Retry-After headers', async () => {
    await using setup = await setUp((_, response) => {
      response.setHeader('retry-after', ['60', '0']);
      answer(response, 429, { message: 'Limit Exceeded' });
    });
    const failure = await failureOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    expect(failure).toMatchObject({ code: 'UPSTREAM_RATE_LIMITED', retryAfter: 60 });
    expect(setup.upstream.seen).toHaveLength(1);
  });
});
