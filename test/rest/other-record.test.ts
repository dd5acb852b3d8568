import { describe, expect, it } from 'vitest';
import type { Loaders } from '../../src/rest/loaders.ts';
import { recordEndpoints } from '../../src/rest/records.ts';
import { codeOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import { answer, pageBody } from '../support/rest/upstream.ts';

const session = { name: 'sessionsOfClient', id: id(1) } as const;
const clinics = { name: 'clinicsOfOrganization', id: id(1) } as const;
const clients = { name: 'clientsOfClinician', id: id(1) } as const;

type Load = (loaders: Loaders) => unknown;
const note: Load = (loaders) => loaders.record(recordEndpoints.note, id(1));
const noteOfSession: Load = (loaders) => loaders.record(recordEndpoints.noteOfSession, id(1));
const transcript: Load = (loaders) => loaders.record(recordEndpoints.transcript, id(1));
const mdm: Load = (loaders) => loaders.record(recordEndpoints.mdm, id(1));
const score: Load = (loaders) => loaders.record(recordEndpoints.score, id(1));
const sessions: Load = (loaders) => loaders.page(session, 1);

describe('a response about another record than the one requested', () => {
  it.each<[string, Load, unknown]>([
    ['a note with another progressNoteId', note, { note: ['B'], progressNoteId: id(2) }],
    ['a note with another id', note, { note: ['B'], id: id(2) }],
    [
      'a note of another session',
      noteOfSession,
      { note: ['B'], sessionId: id(2), progressNoteId: id(1) },
    ],
    ['a transcript of another session', transcript, { transcriptItems: [], sessionId: id(2) }],
    ['an MDM of another session', mdm, { problemsAddressed: [], sessionId: id(2) }],
    ['a score with another id', score, { totalScore: 5, id: id(2) }],
    ['a score with another assessmentScoreId', score, { id: id(1), assessmentScoreId: id(2) }],
    [
      "another client's session in a list",
      sessions,
      pageBody(2, 1, [
        { sessionId: id(5), clientId: id(1) },
        { sessionId: id(6), clientId: id(2) },
      ]),
    ],
    [
      "another organization's clinic in a list",
      (loaders) => loaders.page(clinics, 1),
      pageBody(1, 1, [{ id: id(5), organizationId: id(2) }]),
    ],
    [
      "another clinician's magic edit in a list",
      (loaders) => loaders.page({ name: 'magicEditsOfClinician', id: id(1) }, 1),
      pageBody(1, 1, [{ id: id(5), clinicianId: id(2) }]),
    ],
    [
      "another clinic's assessment in a list",
      (loaders) => loaders.page({ name: 'assessmentsOfClinic', id: id(1) }, 1),
      pageBody(1, 1, [{ id: 'phq9', clinicId: id(2) }]),
    ],
  ])('is a bad response, not cached, and counted: %s', async (_, load, body) => {
    const counted: string[] = [];
    const observer = { otherRecord: (route: string) => counted.push(route) };
    await using setup = await setUp((__, response) => answer(response, 200, body), { observer });
    const loaders = loadersOf(setup.partner);
    expect(await codeOf(load(loaders))).toBe('UPSTREAM_BAD_RESPONSE');
    expect([...loaders.entries]).toEqual([]);
    expect(setup.partner.state().cacheEntries).toBe(0);
    expect(await codeOf(load(loadersOf(setup.partner)))).toBe('UPSTREAM_BAD_RESPONSE');
    expect(setup.upstream.seen).toHaveLength(2);
    expect(counted).toHaveLength(2);
  });

  it.each<[string, Load, unknown]>([
    [
      'a regenerated note, under a new id',
      noteOfSession,
      { note: ['A'], sessionId: id(1), progressNoteId: id(9) },
    ],
    ['ids in upper case', note, { note: ['A'], progressNoteId: id(1).toUpperCase() }],
    ['a value that is not a UUID', transcript, { transcriptItems: [], sessionId: 's-1' }],
    ['a body without an id', mdm, { problemsAddressed: [] }],
    ['a score with a client, where none is expected', score, { clientId: id(7) }],
    [
      'a client whose row names its first clinician, in the list of another',
      (loaders) => loaders.page(clients, 1),
      pageBody(1, 1, [{ id: id(5), clinicianId: id(2) }]),
    ],
  ])('is not %s', async (_, load, body) => {
    await using setup = await setUp((__, response) => answer(response, 200, body));
    expect(await load(loadersOf(setup.partner))).toBeDefined();
    expect(setup.partner.state().cacheEntries).toBe(1);
  });
});
