import { mdms, noteOfSession, transcripts } from '../../resolvers/artifacts.ts';
import { eventsOfSession } from '../../resolvers/event-log.ts';
import { clientOfSession } from '../../resolvers/records.ts';
import { RAW, builder, enumValues, nodeType, optional, required } from '../builder.ts';
import { eventsOfSessionCost, oneCall } from '../estimate-calls.ts';

const ArtifactStatus = builder.enumType('ArtifactStatus', {
  description: 'Status of a transcript or MDM, which are generated after the session.',
  values: enumValues({
    ready: 'Generated.',
    not_ready: 'Not generated yet: a normal condition.',
    failed: 'Transcription failed: it will never exist.',
  }),
});

nodeType(
  'Session',
  'A session of a client, with the note, transcript and MDM generated from it.',
  (t) => ({
    sessionId: t.expose('id', required('UUID', 'UUID of the session.')),
    sessionExternalId: 'The partner’s own identifier for the session.',
    fileUrl: optional('URL', 'URL of the recording, for sessions created through the Partner API.'),
    raw: RAW,
    client: t.field({
      ...optional('Client', 'The client of the session, if it is known.'),
      resolve: clientOfSession,
    }),
    progressNote: t.field({
      type: 'ProgressNote',
      description: 'The progress note, if there is one. `isLoading` is true while it is generated.',
      extensions: oneCall,
      resolve: noteOfSession,
    }),
    transcript: t.field({
      type: 'Transcript',
      description: 'The transcript of the session. Null until it exists: see `transcriptStatus`.',
      extensions: oneCall,
      resolve: transcripts.ofSession,
    }),
    transcriptStatus: t.field({
      ...optional(ArtifactStatus, 'Whether the transcript exists, and why not.'),
      extensions: oneCall,
      resolve: transcripts.statusOf,
    }),
    mdm: t.field({
      type: 'MDM',
      description:
        'The MDM elements of the session. Null until they exist, and always for note types that are not a prescriber’s.',
      extensions: oneCall,
      resolve: mdms.ofSession,
    }),
    mdmStatus: t.field({
      ...optional(ArtifactStatus, 'Whether the MDM elements exist, and why not.'),
      extensions: oneCall,
      resolve: mdms.statusOf,
    }),
    events: t.field({
      ...required(['SessionEvent'], 'The newest 1,000 events of the session, oldest first.'),
      extensions: eventsOfSessionCost,
      resolve: eventsOfSession,
    }),
  }),
);
