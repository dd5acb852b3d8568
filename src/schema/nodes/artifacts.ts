import { isNoteLocked, sessionOfNote } from '../../resolvers/progress-note.ts';
import { required, builder } from '../builder.ts';
import { Node } from './node.ts';
import { ProgressNote, RAW, Session, Transcript, Mdm } from './refs.ts';
import type { TranscriptItem as Item, ProblemAddressed as Problem } from '../../rest/records.ts';

ProgressNote.implement({
  description:
    'The progress note of a session, generated from its transcript. Its `id` stays the same over regenerations.',
  interfaces: [Node],
  fields: (t) => ({
    progressNoteId: t.field({
      type: 'UUID',
      description:
        'UUID of the note. Null while the first generation runs. A regeneration may change it.',
      resolve: (note) => note.record.id,
    }),
    isLoading: t.field({
      ...required('Boolean', 'True while the note is being generated or regenerated.'),
      resolve: (note) => note.record.isLoading,
    }),
    note: t.field({
      ...required(
        ['JSON'],
        'The content of the note. Empty or partial while `isLoading`. The Partner API does not document the shape of the elements.',
      ),
      resolve: (note) => note.record.note,
    }),
    isLocked: t.boolean({
      description:
        'True once this gateway knows that the note is finalized: changes to it then return ProgressNoteLocked. Null otherwise.',
      resolve: isNoteLocked,
    }),
    raw: t.field({ ...RAW, nullable: false, resolve: (note) => note.record.raw }),
    session: t.field({
      type: Session,
      description: 'The session of the note, if it is known.',
      resolve: sessionOfNote,
    }),
  }),
});

const TranscriptItem = builder.objectRef<Item>('TranscriptItem').implement({
  description: 'One uninterrupted utterance of a speaker.',
  fields: (t) => ({
    startTime: t.expose('startTime', {
      type: 'JSON',
      description: 'Start time, as the Partner API returned it.',
    }),
    endTime: t.expose('endTime', {
      type: 'JSON',
      description: 'End time, as the Partner API returned it.',
    }),
    speaker: t.exposeString('speaker', { description: 'The speaker.' }),
    transcript: t.exposeString('transcript', { description: 'The spoken text.' }),
  }),
});

Transcript.implement({
  description: 'The transcript of a session, by speaker.',
  interfaces: [Node],
  fields: (t) => ({
    session: t.expose('session', required(Session, 'The session that was transcribed.')),
    items: t.field({
      ...required([TranscriptItem], 'The utterances, in the order of speaking.'),
      resolve: (transcript) => transcript.record.items,
    }),
    raw: t.field({ ...RAW, nullable: false, resolve: (transcript) => transcript.record.raw }),
  }),
});

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
