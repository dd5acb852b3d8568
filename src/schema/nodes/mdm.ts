import type { ProblemAddressed as Problem } from '../../rest/records.ts';
import { builder, required } from '../builder.ts';
import { Node } from './node.ts';
import { Mdm, RAW, Session } from './refs.ts';

const levels = ['NA', 'MINIMAL', 'LOW', 'MODERATE', 'HIGH'] as const;

const MDMLevel = builder.enumType('MDMLevel', {
  description: 'Level of medical decision making.',
  values: {
    NA: { description: 'Not applicable.' },
    MINIMAL: { description: 'Minimal.' },
    LOW: { description: 'Low.' },
    MODERATE: { description: 'Moderate.' },
    HIGH: { description: 'High.' },
  },
});

/** A level that the Partner API adds later is null here; `raw` has it. */
const levelOf = (text: string | null) =>
  levels.find((level) => level === text?.toUpperCase()) ?? null;

const ProblemAddressed = builder.objectRef<Problem>('ProblemAddressed').implement({
  description: 'A problem addressed in the session.',
  fields: (t) => ({
    rationale: t.exposeString('rationale', { description: 'Reason for the level.' }),
    level: t.field({
      type: MDMLevel,
      description: 'Level of decision making for this problem.',
      resolve: (problem) => levelOf(problem.level),
    }),
  }),
});

Mdm.implement({
  description: 'Medical decision making elements of a session.',
  interfaces: [Node],
  fields: (t) => ({
    session: t.expose(
      'session',
      required(Session, 'The session that the elements were identified in.'),
    ),
    problemsAddressed: t.field({
      ...required([ProblemAddressed], 'The problems addressed in the session.'),
      resolve: (mdm) => mdm.record.problemsAddressed,
    }),
    risk: t.field({
      type: 'JSON',
      description: 'The risk of complications, as the Partner API returned it.',
      resolve: (mdm) => mdm.record.risk,
    }),
    crisisIntervention: t.boolean({
      description: 'Whether crisis intervention was identified.',
      resolve: (mdm) => mdm.record.crisisIntervention,
    }),
    raw: t.field({ ...RAW, nullable: false, resolve: (mdm) => mdm.record.raw }),
  }),
});
