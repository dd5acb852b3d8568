import { describe, expect, it } from 'vitest';
import { anotherRecord, type Endpoint } from '../../src/rest/endpoints.ts';
import { recordEndpoints } from '../../src/rest/records.ts';
import {
  listKeyOf,
  listEndpoints,
  cachePathOf,
  readAssessment,
  readClient,
  readOrganization,
  readSession,
} from '../../src/rest/lists.ts';
import type { Uuid } from '../../src/uuid.ts';
import { id } from '../support/rest/partner.ts';
import { pageBody, uuid } from '../support/rest/upstream.ts';

/** What was read, if it is about the requested record. */
function own<T>(read: ReturnType<Endpoint<T>['read']>): T | undefined {
  if (read === anotherRecord) throw new Error('it is about another record');
  return read;
}

describe('records', () => {
  it('have the fields of the API, and the row unchanged', () => {
    const raw = {
      id: uuid(1).toUpperCase(),
      firstName: 'Ada',
      dateOfBirth: '1990-02-28',
      status: 'brand_new',
      extra: { any: 1 },
    };
    expect(readClient(raw)).toEqual({
      id: uuid(1),
      firstName: 'Ada',
      lastName: null,
      externalId: null,
      email: null,
      phoneNumber: null,
      dateOfBirth: '1990-02-28',
      status: 'brand_new',
      raw,
    });
  });

  it('have null for a value of an unexpected type', () => {
    expect(readClient({ id: uuid(1), firstName: 5, lastName: {}, status: false })).toMatchObject({
      firstName: null,
      lastName: null,
      status: null,
    });
  });

  it('have the id from `id`, or from the field named after the type; sessions and assessments the other way round', () => {
    expect(readOrganization({ organizationId: uuid(1), name: 'O' })?.id).toBe(uuid(1));
    expect(readSession({ id: uuid(3), sessionId: uuid(2) })?.id).toBe(uuid(2));
    expect(readSession({ id: uuid(3), sessionId: 'no' })?.id).toBe(uuid(3));
    expect(readClient({ id: 5 })).toBeUndefined();
    expect(readAssessment({ id: 'phq9' })?.id).toBe('phq9');
    expect(readAssessment({ id: uuid(3), assessmentId: 'phq9' })?.id).toBe('phq9');
    expect(readAssessment({ id: '' })).toBeUndefined();
  });
});

const read = (body: unknown, page = 1) =>
  own(listEndpoints.clientsOfClinic.read(body, id(1), page));

describe('a page', () => {
  it('keeps the position of a row that cannot be read', () => {
    const rows = [{ id: uuid(1) }, { firstName: 'no id' }, null, 'x', { id: uuid(2) }];
    const ids = read(pageBody(5, 1, rows))?.rows.map((row) => row?.id);
    expect(ids).toEqual([uuid(1), undefined, undefined, undefined, uuid(2)]);
  });

  it('past the end is empty, whatever the API returns there', () => {
    expect(read(pageBody(12, 2), 9)).toEqual({ rows: [], total: 12, page: 9 });
  });
});

const readNote = (body: unknown) => own(recordEndpoints.note.read(body, id(1), 1));
const readNoteOf = (body: unknown, sessionId: Uuid) =>
  own(recordEndpoints.noteOfSession.read(body, sessionId, 1));

describe('a progress note', () => {
  it('of a session has the id that is named as its own', () => {
    const body = {
      isLoading: false,
      note: ['x'],
      id: uuid(9),
      progressNoteId: uuid(1),
      sessionId: uuid(2),
    };
    expect(readNoteOf(body, id(2))).toMatchObject({
      id: uuid(1),
      sessionId: uuid(2),
      note: ['x'],
    });
    expect(readNoteOf({ isLoading: true, id: uuid(9) }, id(2))).toMatchObject({
      id: null,
      note: [],
    });
  });

  it('by its id has that id, whether or not the body names it', () => {
    expect(readNote({ note: [] })?.id).toBe(uuid(1));
    expect(readNote({ note: [], id: 'n-1' })?.id).toBe(uuid(1));
    expect(readNote({ note: [], id: uuid(1).toUpperCase() })?.id).toBe(uuid(1));
    const named = { note: [], id: uuid(9), progressNoteId: uuid(1) };
    expect(readNote(named)?.id).toBe(uuid(1));
  });

  it('is not read from an error body', () => {
    expect(readNote({ error: { message: 'x' } })).toBeUndefined();
    expect(readNoteOf([], id(1))).toBeUndefined();
  });
});

const readTranscript = (body: unknown) => own(recordEndpoints.transcript.read(body, id(1), 1));
const readMdm = (body: unknown) => own(recordEndpoints.mdm.read(body, id(1), 1));

describe('artifacts', () => {
  it('pass times through and read the rest leniently', () => {
    const transcriptItems = [
      { startTime: 1.5, endTime: '00:03', speaker: 'A', transcript: 7 },
      'x',
    ];
    expect(readTranscript({ transcriptItems })).toMatchObject({
      items: [{ startTime: 1.5, endTime: '00:03', speaker: 'A', transcript: null }],
    });
  });

  it('find risk and crisis under each of their names', () => {
    const problemsAddressed = [{ rationale: 'r', level: 'low' }];
    const body = {
      problemsAddressed,
      riskOfComplications: { level: 'high' },
      crisisNote: 'n',
      hasCrisis: false,
    };
    expect(readMdm(body)).toMatchObject({
      problemsAddressed,
      risk: { level: 'high' },
      crisisIntervention: false,
    });
    expect(readMdm({ problemsAddressed: [] })).toMatchObject({
      risk: null,
      crisisIntervention: null,
    });
  });
});

describe('lists', () => {
  it('are the same list in whatever order the filter is written', () => {
    const list = { name: 'clientsOfClinic', id: id(1) } as const;
    const one = listKeyOf({ ...list, filter: { status: 'active', email: 'a@b' } });
    expect(one).toBe(listKeyOf({ ...list, filter: { email: 'a@b', status: 'active' } }));
    expect(one).not.toBe(listKeyOf(list));
  });

  it('need their parent', () => {
    expect(() => cachePathOf({ name: 'clientsOfClinic' })).toThrow('needs a UUID');
  });

  it('accept half of a surrogate pair in a filter', () => {
    expect(listKeyOf({ name: 'organizations', filter: { name: '\ud800' } })).toContain('%EF%BF%BD');
  });
});

it.each([
  ['https://files.example/a.mp3', true],
  ['HTTP://files.example', true],
  ['not a url', false],
  ['', false],
  ['/relative', false],
  ['javascript:alert(1)', false],
  ['https://', false],
  [5, false],
])('the file URL of a session, given %j, is shown: %s', (fileUrl, isShown) => {
  const raw = { sessionId: uuid(1), fileUrl };
  expect(readSession(raw)).toMatchObject({ fileUrl: isShown ? fileUrl : null, raw });
});
