import {
  clientOfSession,
  mdmOfSession,
  mdmStatus,
  noteOfSession,
  transcriptOfSession,
  transcriptStatus,
} from '../resolvers/session.ts';
import { eventsOfSession } from '../resolvers/events.ts';
import { attribute } from './attribute.ts';
import { builder } from './builder.ts';
import { forEvents, oneCall } from '../resolvers/price.ts';
import { SessionEvent } from './events.ts';
import { Node } from './node.ts';
import { Client, Mdm, ProgressNote, Session, Transcript } from './refs.ts';

const ArtifactStatus = builder.enumType('ArtifactStatus', {
  description: 'Whether an artifact that is generated after the session exists.',
  values: {
    READY: { description: 'It exists.' },
    NOT_READY: { description: 'Not generated yet: a normal condition.' },
    FAILED: { description: 'Transcription failed: it will never exist.' },
  },
});

Session.implement({
  description: 'One session of a client, with what was generated from it.',
  interfaces: [Node],
  fields: (t) => ({
    sessionId: t.expose('id', { type: 'UUID', description: 'Its UUID.', nullable: false }),
    sessionExternalId: t.string({
      description: 'The partner’s own identifier for it.',
      resolve: attribute('sessionExternalId'),
    }),
    fileUrl: t.field({
      type: 'URL',
      description: 'Where its recording was fetched from, for sessions created through the API.',
      resolve: attribute('fileUrl'),
    }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: attribute('raw'),
    }),
    client: t.field({
      type: Client,
      description: 'Whose session it is.',
      resolve: clientOfSession,
    }),
    progressNote: t.field({
      type: ProgressNote,
      description: 'Its note; `isLoading` while it is being generated.',
      extensions: oneCall,
      resolve: noteOfSession,
    }),
    transcript: t.field({
      type: Transcript,
      description: 'Null until it exists; `transcriptStatus` says why.',
      extensions: oneCall,
      resolve: transcriptOfSession,
    }),
    transcriptStatus: t.field({
      type: ArtifactStatus,
      description: 'Why there is, or is not, a transcript.',
      extensions: oneCall,
      resolve: transcriptStatus,
    }),
    mdm: t.field({
      type: Mdm,
      description: 'Null until it exists, and always for note types that are not a prescriber’s.',
      extensions: oneCall,
      resolve: mdmOfSession,
    }),
    mdmStatus: t.field({
      type: ArtifactStatus,
      description: 'Why there are, or are not, MDM elements.',
      extensions: oneCall,
      resolve: mdmStatus,
    }),
    events: t.field({
      type: [SessionEvent],
      description: 'What happened to this session so far, oldest first.',
      nullable: false,
      extensions: forEvents(25),
      resolve: eventsOfSession,
    }),
  }),
});
