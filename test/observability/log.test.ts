import { describe, expect, it } from 'vitest';
import { createLog, type LogFields } from '../../src/observability/log.ts';
import { Unauthenticated } from '../../src/viewer/authenticate.ts';

const ID = '7b0e4c52-1f4d-4a39-9d3c-0a5f6b1c2d3e';

function capture(level = 'info') {
  const lines: string[] = [];
  const log = createLog(level, { write: (line) => void lines.push(line) });
  const last = (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? '{}');
  return { log, lines, last };
}

describe('a line', () => {
  it('is one line of JSON with a time, a level, a message and its fields', () => {
    const { log, lines, last } = capture();
    log.warn('partner refused', { route: '/clinics/:clinicId/clients', status: 403 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(last()).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      msg: 'partner refused',
      route: '/clinics/:clinicId/clients',
      status: 403,
    });
  });

  it('leaves out fields that are not on the list', () => {
    const { log, last } = capture();
    const careless = { status: 200, body: 'patient', headers: { authorization: 'Bearer x' } };
    const fields: LogFields = careless;
    log.info('answered', fields);
    expect(Object.keys(last()).toSorted()).toEqual(['level', 'msg', 'status', 'time']);
  });

  it.each([
    `/clients/${ID}`,
    'anna@example.com',
    'a\nb',
    '+15550100',
    'https://x.example/?q=1',
    'x'.repeat(161),
  ])('withholds %j in a field meant for codes', (reason) => {
    const { log, last } = capture();
    log.info('refused', { reason });
    expect(last()['reason']).toBe('[withheld]');
  });

  it('is not written below the level', () => {
    const { log, lines } = capture('error');
    log.info('started');
    log.warn('slow');
    expect(lines).toEqual([]);
  });
});

describe('an error', () => {
  it('of another library is logged by its class and code, never by its message', () => {
    const { log, lines, last } = capture();
    const cause = new Error('born 1980-01-01');
    log.error('failed', { error: new TypeError('Anna, 555-0100', { cause }) });
    log.error('failed', {
      error: Object.assign(new Error('connect 10.0.0.1'), { code: 'ECONNREFUSED' }),
    });
    expect(last()).toMatchObject({ error: 'Error', code: 'ECONNREFUSED' });
    for (const secret of ['Anna', '1980', '10.0.0.1']) expect(lines.join('')).not.toContain(secret);
  });

  it('of another library is logged with the line of our source in its stack', () => {
    const { log, last } = capture();
    const stack =
      'Error: Anna\n    at parse (node:x:1:1)\n    at f (file:///x/src/rest/call.ts:30:7)';
    log.error('failed', { error: Object.assign(new Error('Anna'), { stack }) });
    expect(last()['at']).toBe('src/rest/call.ts:30');
  });

  it('has no line of its message, though it looks like one of the stack', () => {
    const { log, last } = capture();
    const message = 'Anna\n    at born (file:///x/src/anna-1980.ts:1:1)';
    log.error('failed', {
      error: Object.assign(new Error(message), { stack: `Error: ${message}` }),
    });
    expect(last()).not.toHaveProperty('at');
  });

  it('of our own is logged by its class and code too', () => {
    const { log, last } = capture();
    log.error('refused', { error: new Unauthenticated('missing') });
    expect(last()).toMatchObject({ error: 'Unauthenticated', code: 'UNAUTHENTICATED' });
    expect(last()).not.toHaveProperty('detail');
  });

  it.each([null, undefined, 'note text', 5, { message: 'note text' }])(
    'that is another value (%j) is logged by its type',
    (thrown) => {
      const { log, lines, last } = capture();
      log.error('failed', { error: thrown });
      expect(last()['error']).toBe(thrown === null ? 'null' : typeof thrown);
      expect(lines.join('')).not.toContain('note text');
    },
  );

  it('with a name that is not an identifier is logged as Error', () => {
    const { log, last } = capture();
    log.error('failed', {
      error: Object.assign(new Error('x'), { name: 'Anna\n{"level":"info"}' }),
    });
    expect(last()['error']).toBe('Error');
  });
});

describe('an audit line', () => {
  const RECORD = `ProgressNote:${ID}`;
  const write = ({ audit }: ReturnType<typeof createLog>, subject = 'anna') =>
    audit.begin(subject, 'Note').writeNow('ok', RECORD);

  it('is written at every level but silent', () => {
    const quiet = capture('error');
    write(quiet.log);
    expect(quiet.lines).toHaveLength(1);
    const silent = capture('silent');
    write(silent.log);
    expect(silent.lines).toEqual([]);
  });

  it('truncates a subject to 256 characters', () => {
    const { log, last } = capture();
    const trail = { operation: 'Note', records: [RECORD], outcome: 'delivered' };
    log.audit.delivered(trail, ['x'.repeat(300), 'ben']);
    expect(last()['subject']).toEqual(['x'.repeat(256), 'ben']);
  });

  it('is one line whatever the subject contains', () => {
    const { log, lines, last } = capture();
    write(log, 'a\r\n{"level":"error"}\u2028\u0085\u009b31m\u202eb\ud800');
    expect(lines.join('').split(/[\r\n\u0085\u2028]/u)).toHaveLength(2);
    expect(last()['subject']).toBe('a??{"level":"error"}???31m?b?');
  });
});
