import type { GraphQLResolveInfo } from 'graphql';

import type { Context } from '../context.ts';
import { textOf } from '../json.ts';
import { isNoteLocked, mdms, noteOfSession, transcripts } from '../resolvers/artifacts.ts';
import { eventsOfSession } from '../resolvers/event-log.ts';
import { clientOfSession, sessionOfNote } from '../resolvers/records.ts';
import type { ScoreRef } from '../resolvers/refs.ts';
import type { MdmRecord } from '../rest/records.ts';
import { RAW, builder, enumValues, objectType, optional, required } from './builder.ts';
import { selectedSubfields } from './selections.ts';

const ArtifactStatus = builder.enumType('ArtifactStatus', {
  description: 'Status of a transcript or MDM, which are generated after the session.',
  values: enumValues({
    ready: 'Generated.',
    not_ready: 'Not generated yet: a normal condition.',
    failed: 'Transcription failed: it will never exist.',
  }),
});

objectType(
  'Session',
  'A session of a client, with the note, transcript and MDM generated from it.',
  (t) => ({
    sessionId: t.expose('id', required('UUID', 'UUID of the session.')),
    sessionExternalId: 'The partner’s own identifier for the session.',
    fileUrl: optional('URL', 'URL of the recording, for sessions created through the Partner API.'),
    raw: RAW,
    client: optional('Client', 'The client of the session, if it is known.', clientOfSession),
    progressNote: optional(
      'ProgressNote',
      'The progress note, if there is one. `isLoading` is true while it is generated.',
      noteOfSession,
    ),
    transcript: optional(
      'Transcript',
      'The transcript of the session. Null until it exists: see `transcriptStatus`.',
      transcripts.ofSession,
    ),
    transcriptStatus: optional(
      ArtifactStatus,
      'Whether the transcript exists, and why not.',
      transcripts.statusOf,
    ),
    mdm: optional(
      'MDM',
      'The MDM elements of the session. Null until they exist, and always for note types that are not a prescriber’s.',
      mdms.ofSession,
    ),
    mdmStatus: optional(
      ArtifactStatus,
      'Whether the MDM elements exist, and why not.',
      mdms.statusOf,
    ),
    events: required(
      ['SessionEvent'],
      'The newest 1,000 events of the session, oldest first.',
      eventsOfSession,
    ),
  }),
);

const REQUIRED_RAW = { ...RAW, nullable: false };

objectType(
  'ProgressNote',
  'The progress note of a session, generated from its transcript. Its `id` stays the same over regenerations.',
  (t) => ({
    progressNoteId: t.expose(
      'progressNoteId',
      optional(
        'UUID',
        'UUID of the note. Null while the first generation runs. A regeneration may change it.',
      ),
    ),
    isLoading: t.expose(
      'isLoading',
      required('Boolean', 'True while the note is being generated or regenerated.'),
    ),
    note: required(
      ['JSON'],
      'The content of the note. Empty or partial while `isLoading`. The Partner API does not document the shape of the elements.',
    ),
    isLocked: optional(
      'Boolean',
      'True if the note is known to be finalized: changes to it then return ProgressNoteLocked. Null otherwise.',
      isNoteLocked,
    ),
    raw: REQUIRED_RAW,
    session: optional('Session', 'The session of the note, if it is known.', sessionOfNote),
  }),
);

objectType('TranscriptItem', 'One uninterrupted utterance of a speaker.', () => ({
  startTime: optional('JSON', 'Start time, as the Partner API returned it.'),
  endTime: optional('JSON', 'End time, as the Partner API returned it.'),
  speaker: 'The speaker.',
  transcript: 'The spoken text.',
}));

/** A short value with its name. */
const VALUE_BYTES = 20;

/** Returns the items, and counts them with the selected fields: each alias of a text returns it once more. */
function counted<T extends object>(items: readonly T[], ctx: Context, info: GraphQLResolveInfo) {
  for (const { field } of selectedSubfields(info, ctx))
    for (const item of items)
      ctx.responseSize.add(VALUE_BYTES + (textOf(item[field.name as keyof T])?.length ?? 0));
  return ctx.responseSize.addValue(items);
}

objectType('Transcript', 'The transcript of a session, by speaker.', (t) => ({
  session: t.expose('session', required('Session', 'The session that was transcribed.')),
  items: t.field({
    type: ['TranscriptItem'],
    description: 'The utterances, in the order in which the Partner API returned them.',
    nullable: false,
    resolve: ({ record }, _args, ctx, info) => counted(record.items, ctx, info),
  }),
  raw: REQUIRED_RAW,
}));

const levels = {
  na: 'Not applicable.',
  minimal: 'Minimal.',
  low: 'Low.',
  moderate: 'Moderate.',
  high: 'High.',
} as const;

const MDMLevel = builder.enumType('MDMLevel', {
  description: 'Level of medical decision making.',
  values: enumValues(levels),
});

/** A level that the Partner API adds later is null here; `raw` has it. */
function levelOf({ level }: MdmRecord['problemsAddressed'][number]) {
  const name = level?.toLowerCase() ?? '';
  return Object.hasOwn(levels, name) ? (name as keyof typeof levels) : null;
}

objectType('ProblemAddressed', 'A problem addressed in the session.', () => ({
  rationale: 'Reason for the level.',
  level: optional(MDMLevel, 'Level of decision making for this problem.', levelOf),
}));

objectType('MDM', 'Medical decision making elements of a session.', (t) => ({
  session: t.expose(
    'session',
    required('Session', 'The session that the elements were identified in.'),
  ),
  problemsAddressed: t.field({
    ...required(['ProblemAddressed'], 'The problems addressed in the session.'),
    resolve: ({ record }, _args, ctx, info) => counted(record.problemsAddressed, ctx, info),
  }),
  risk: optional('JSON', 'The risk of complications, as the Partner API returned it.'),
  crisisIntervention: optional('Boolean', 'Whether crisis intervention was identified.'),
  raw: REQUIRED_RAW,
}));

objectType('Assessment', 'An assessment (questionnaire) that a clinic uses.', (t) => ({
  assessmentId: t.expose(
    'id',
    required('String', 'Identifier of the assessment: a string such as `phq9`, not a UUID.'),
  ),
  name: 'Name of the assessment.',
  raw: RAW,
}));

objectType('AssessmentAnswer', 'The answer to one question of an assessment.', () => ({
  questionKey: 'Key of the question.',
  questionDisplay: 'Text of the question.',
  answerValue: optional('JSON', 'Value of the answer, as the Partner API returned it.'),
  answerDisplay: 'Text of the answer.',
}));

objectType('AssessmentScore', 'The score of a client in one assessment.', (t) => ({
  assessmentScoreId: t.expose('id', required('UUID', 'UUID of the score.')),
  assessmentId: 'Identifier of the assessment, such as `phq9`.',
  totalScore: optional('Float', 'Total score.'),
  answers: t.field({
    ...required(['AssessmentAnswer'], 'The answers, one for each question.'),
    resolve: ({ record }, _args, ctx, info) => counted(record.answers, ctx, info),
  }),
  client: optional(
    'Client',
    'The client who was assessed. Null for a score that was requested by its bare UUID.',
    ({ clientId: id }: ScoreRef) => (id ? { type: 'Client' as const, id, open: true } : null),
  ),
  raw: REQUIRED_RAW,
}));
