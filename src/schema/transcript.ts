import type { TranscriptItem as Item } from '../rest/records.ts';
import { builder } from './builder.ts';
import { Node } from './node.ts';
import { Session, Transcript } from './refs.ts';

const TranscriptItem = builder.objectRef<Item>('TranscriptItem').implement({
  description: 'What one speaker said at a stretch.',
  fields: (t) => ({
    startTime: t.expose('startTime', { type: 'JSON', description: 'As the Partner API gave it.' }),
    endTime: t.expose('endTime', { type: 'JSON', description: 'As the Partner API gave it.' }),
    speaker: t.exposeString('speaker', { description: 'Who speaks.' }),
    transcript: t.exposeString('transcript', { description: 'What was said.' }),
  }),
});

Transcript.implement({
  description: 'What was said in a session, by speaker.',
  interfaces: [Node],
  fields: (t) => ({
    session: t.expose('session', { type: Session, description: 'Its session.', nullable: false }),
    items: t.field({
      type: [TranscriptItem],
      description: 'In the order of speaking.',
      nullable: false,
      resolve: (transcript) => transcript.record.items,
    }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      nullable: false,
      resolve: (transcript) => transcript.record.raw,
    }),
  }),
});
