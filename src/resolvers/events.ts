import type { Context } from '../context.ts';
import type {
  AssessmentEvent,
  MdmEvent,
  PartnerEvent,
  ProgressNoteEvent,
  SessionEvent,
  TranscriptReadyEvent,
} from '../events/partner-event.ts';
import { whenLoaded } from '../loaded.ts';
import { sessionEvents } from './event-log.ts';
import { scoreShown } from './assessment-score.ts';
import { opened } from './opened.ts';
import { noteRef } from './note-ref.ts';
import type {
  ClientRef,
  ClinicRef,
  ClinicianRef,
  OrganizationRef,
  ScoreRef,
  SessionRef,
} from './refs.ts';
import { mdmOfSession, transcriptOfSession } from './session.ts';

/** Whoever hears an event may see its session and client; what lies above needs a grant of its own. */
export const sessionOfEvent = ({ sessionId, clientId }: SessionEvent): SessionRef => ({
  kind: 'session',
  id: sessionId,
  clientId,
  open: true,
});

export const clientOfEvent = ({ clientId }: PartnerEvent): ClientRef => ({
  kind: 'client',
  id: clientId,
  open: false,
  above: true,
});

export const clinicianOfEvent = (event: SessionEvent): ClinicianRef => ({
  kind: 'clinician',
  id: event.clinicianId,
  clinicId: event.clinicId,
  open: false,
  above: true,
});

export const clinicOfEvent = (event: SessionEvent): ClinicRef => ({
  kind: 'clinic',
  id: event.clinicId,
  organizationId: event.organizationId,
  open: false,
  above: true,
});

export const organizationOfEvent = (event: SessionEvent): OrganizationRef => ({
  kind: 'organization',
  id: event.organizationId,
  open: false,
  above: true,
});

/** Null if it is gone by then: a later regeneration may have replaced it. */
export function noteOfEvent(event: ProgressNoteEvent, _args: unknown, ctx: Context) {
  return whenLoaded(ctx.loaders.note(event.progressNoteId), (record) =>
    record ? noteRef(record, event.sessionId, ctx) : null,
  );
}

export const transcriptOfEvent = (event: TranscriptReadyEvent, args: unknown, ctx: Context) =>
  transcriptOfSession(sessionOfEvent(event), args, ctx);

export const mdmOfEvent = (event: MdmEvent, args: unknown, ctx: Context) =>
  mdmOfSession(sessionOfEvent(event), args, ctx);

export function scoreOfEvent({ scoreId, clientId }: AssessmentEvent, _args: unknown, ctx: Context) {
  return whenLoaded(ctx.loaders.score(scoreId), (record): ScoreRef | null =>
    record ? scoreShown({ kind: 'score', id: scoreId, record, clientId }, ctx) : null,
  );
}

export const cursorOfEvent = (event: PartnerEvent, _args: unknown, ctx: Context): string =>
  ctx.hub().cursorAt(event.position);

export const receivedAtOf = ({ receivedAt }: PartnerEvent): string =>
  new Date(receivedAt).toISOString();

export function eventsOfSession(session: SessionRef, _args: unknown, ctx: Context) {
  return opened(session, ctx, () => sessionEvents(session.id, ctx));
}

export const cursorWhenBegun = (_parent: unknown, _args: unknown, ctx: Context): string =>
  ctx.hub().cursorAt(ctx.beganAt);
