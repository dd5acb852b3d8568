import type { TranscriptItem as Item } from '../../rest/records.ts';
import { builder, required } from '../builder.ts';
import { Node } from './node.ts';
import { RAW, Session, Transcript } from './refs.ts';

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
