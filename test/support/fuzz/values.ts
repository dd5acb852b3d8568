import * as fc from 'fast-check';

import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { artifactId, plainId, sessionId } from '../global-id.ts';

const NASTY = [
  '',
  ' ',
  '\u0000',
  '../../partners',
  '%2e%2e/x?page=2#y',
  'a\r\nX-Injected: 1',
  '\u202e\ud83d\ude00',
  '\ud800',
  '__proto__',
  '00000000-0000-0000-0000-000000000000',
  'Q2xpZW50Og==',
  "'; DROP TABLE events; --",
  '{"a":1}',
  '2026-02-30',
  '9999-12-31T23:59:59Z',
  'x'.repeat(6_000),
];

/** Text of every kind: real ids, ids of other kinds, things that have broken other programs. */
export function anyText(sandbox: Sandbox): fc.Arbitrary<string> {
  const { ids } = sandbox;
  const uuids = [ids.organization(0), ids.clinic(0), ids.clinician(0), ids.client(0)];
  const deep = [ids.session(0, 0), ids.note(0, 0), ids.client(3), ids.session(3, 5)];
  const kinds = ['Organization', 'Clinic', 'Program', 'Clinician', 'Client'] as const;
  const global = [...uuids, ...deep].flatMap((id) => [
    ...kinds.map((kind) => plainId(kind, id)),
    sessionId({ sandbox }, id, ids.client(0)),
    artifactId({ sandbox }, 'ProgressNote', id, ids.client(0)),
    artifactId({ sandbox }, 'Transcript', id),
  ]);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...uuids, ...deep) },
    { weight: 3, arbitrary: fc.constantFrom(...global) },
    { weight: 2, arbitrary: fc.constantFrom(...NASTY) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    { weight: 1, arbitrary: fc.uuid() },
  );
}

const anyNumber = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.constantFrom(-1, 100, 101, 2 ** 31, Number.MAX_VALUE, 0.5, Number.MAX_SAFE_INTEGER),
);

/** A value of any type, mostly not of the expected one. */
export const anyValue = (sandbox: Sandbox): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 4, arbitrary: anyText(sandbox) },
    { weight: 3, arbitrary: anyNumber },
    { weight: 1, arbitrary: fc.constantFrom(null, true, false, [], {}) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.array(anyText(sandbox), { maxLength: 3 }) },
  );
