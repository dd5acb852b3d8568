import { eventsOfSession } from '../../resolvers/events/event-log.ts';
import { clientOfSession } from '../../resolvers/parents.ts';
import { forEvents, oneCall } from '../../resolvers/price.ts';
import {
  mdmOfSession,
  noteOfSession,
  statusOf,
  transcriptOfSession,
} from '../../resolvers/session.ts';
import { builder, required } from '../builder.ts';
import { SessionEvent } from '../events.ts';
import { Node } from './node.ts';
import { Client, Mdm, ProgressNote, RAW, Session, Transcript, attribute } from './refs.ts';

const ArtifactStatus = builder.enumType('ArtifactStatus', {
  description: 'Status of a transcript or MDM, which are generated after the session.',
  values: {
    READY: { description: 'Generated.' },
    NOT_READY: { description: 'Not generated yet: a normal condition.' },
    FAILED: { description: 'Transcription failed: it will never exist.' },
  },
});

Session.implement({
  description: 'A session of a client, with the note, transcript and MDM generated from it.',
  interfaces: [Node],
  fields: (t) => ({
    sessionId: t.expose('id', required('UUID', 'UUID of the session.')),
    sessionExternalId: t.string({
      description: 'The partner’s own identifier for the session.',
      resolve: attribute('sessionExternalId'),
    }),
    fileUrl: t.field({
      type: 'URL',
      description: 'URL of the recording, for sessions created through the Partner API.',
      resolve: attribute('fileUrl'),
    }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
    client: t.field({
      type: Client,
      description: 'The client of the session.',
      resolve: clientOfSession,
    }),
    progressNote: t.field({
      type: ProgressNote,
      description: 'The progress note of the session. `isLoading` is true while it is generated.',
      extensions: oneCall,
      resolve: noteOfSession,
    }),
    transcript: t.field({
      type: Transcript,
      description: 'The transcript of the session. Null until it exists: see `transcriptStatus`.',
      extensions: oneCall,
      resolve: transcriptOfSession,
    }),
    transcriptStatus: t.field({
      type: ArtifactStatus,
      description: 'Whether the transcript exists, and why not.',
      extensions: oneCall,
      resolve: statusOf('transcript'),
    }),
    mdm: t.field({
      type: Mdm,
      description:
        'The MDM elements of the session. Null until they exist, and always for note types that are not a prescriber’s.',
      extensions: oneCall,
      resolve: mdmOfSession,
    }),
    mdmStatus: t.field({
      type: ArtifactStatus,
      description: 'Whether the MDM elements exist, and why not.',
      extensions: oneCall,
      resolve: statusOf('mdm'),
    }),
    events: t.field({
      ...required([SessionEvent], 'The events of the session so far, oldest first.'),
      extensions: forEvents(25),
      resolve: eventsOfSession,
    }),
  }),
});
