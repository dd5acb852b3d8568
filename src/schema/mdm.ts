import type { ProblemAddressed as Problem } from '../rest/records.ts';
import { builder } from './builder.ts';
import { Node } from './node.ts';
import { Mdm, Session } from './refs.ts';

const levels = ['NA', 'MINIMAL', 'LOW', 'MODERATE', 'HIGH'] as const;

const MDMLevel = builder.enumType('MDMLevel', {
  description: 'How much decision making a problem took.',
  values: {
    NA: { description: 'Does not apply.' },
    MINIMAL: { description: 'Minimal.' },
    LOW: { description: 'Low.' },
    MODERATE: { description: 'Moderate.' },
    HIGH: { description: 'High.' },
  },
});

/** A level that the Partner API adds some day reads as null; it is in `raw`. */
const levelOf = (text: string | null) =>
  levels.find((level) => level === text?.toUpperCase()) ?? null;

const ProblemAddressed = builder.objectRef<Problem>('ProblemAddressed').implement({
  description: 'A problem that the session dealt with.',
  fields: (t) => ({
    rationale: t.exposeString('rationale', { description: 'Why it stands at this level.' }),
    level: t.field({
      type: MDMLevel,
      description: 'How much decision making it took.',
      resolve: (problem) => levelOf(problem.level),
    }),
  }),
});

Mdm.implement({
  description: 'Medical decision making elements.',
  interfaces: [Node],
  fields: (t) => ({
    session: t.expose('session', { type: Session, description: 'Its session.', nullable: false }),
    problemsAddressed: t.field({
      type: [ProblemAddressed],
      description: 'The problems that the session dealt with.',
      nullable: false,
      resolve: (mdm) => mdm.record.problemsAddressed,
    }),
    risk: t.field({
      type: 'JSON',
      description: 'The risk of complications, as the Partner API gave it.',
      resolve: (mdm) => mdm.record.risk,
    }),
    crisisIntervention: t.boolean({
      description: 'Whether crisis intervention was identified.',
      resolve: (mdm) => mdm.record.crisisIntervention,
    }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      nullable: false,
      resolve: (mdm) => mdm.record.raw,
    }),
  }),
});
