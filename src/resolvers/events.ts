import type { Context } from '../context.ts';
import type {
  AssessmentEvent,
  MdmEvent,
  PartnerEvent,
  ProgressNoteEvent,
  SessionEvent,
  TranscriptReadyEvent,
} from '../events/partner-event.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import { PartnerContractBroken } from '../rest/errors.ts';
import { endpoints } from '../rest/endpoints.ts';
import { missed } from './access/audit-reads.ts';
import { isOpen } from './access/prove.ts';
import { requireAccess } from './access/require-access.ts';
import { scoreOf } from './assessment-score.ts';
import { sessionEvents } from './event-log.ts';
import type {
  ClientRef,
  ClinicRef,
  ClinicianRef,
  ListedRef,
  OrganizationRef,
  SessionRef,
} from './refs.ts';
import { mdmOfSession, noteRef, transcriptOfSession } from './session.ts';

/** An event shows the ids in it; what they name is open only with proof by a list, as any record is. */
export const sessionOfEvent = ({ sessionId, clientId }: SessionEvent): SessionRef => ({
  kind: 'session',
  id: sessionId,
  clientId,
  open: false,
  above: true,
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
  const session = sessionOfEvent(event);
  return ifOpen(session, ctx, () =>
    whenLoaded(ctx.loaders.note(event.progressNoteId), (record) => {
      if (record?.sessionId && record.sessionId !== event.sessionId) throw anotherSession();
      return record ? noteRef(record, session, ctx) : null;
    }),
  );
}

const anotherSession = () =>
  new PartnerContractBroken(endpoints.note.template, 'the note belongs to another session');

export const transcriptOfEvent = (event: TranscriptReadyEvent, args: unknown, ctx: Context) => {
  const session = sessionOfEvent(event);
  return ifOpen(session, ctx, () => transcriptOfSession(session, args, ctx));
};

export const mdmOfEvent = (event: MdmEvent, args: unknown, ctx: Context) => {
  const session = sessionOfEvent(event);
  return ifOpen(session, ctx, () => mdmOfSession(session, args, ctx));
};

export const scoreOfEvent = (
  { scoreId, clientId }: AssessmentEvent,
  _args: unknown,
  ctx: Context,
) =>
  ifOpen({ kind: 'client', id: clientId, open: false }, ctx, () =>
    scoreOf({ id: scoreId, clientId }, ctx),
  );

/** What an event links to is null, and no error, where the viewer may see the event alone. */
function ifOpen<T>(ref: ListedRef, ctx: Context, inside: () => Loaded<T | null>): Loaded<T | null> {
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (open) return inside();
    missed(ref, ctx);
    return null;
  });
}

export const cursorOfEvent = (event: PartnerEvent, _args: unknown, ctx: Context): string =>
  ctx.hub.cursorAt(event.position);

export const receivedAtOf = ({ receivedAt }: PartnerEvent): string =>
  new Date(receivedAt).toISOString();

export function eventsOfSession(session: SessionRef, _args: unknown, ctx: Context) {
  return requireAccess(session, ctx, () => {
    ctx.doNotCache();
    return sessionEvents(session.id, ctx);
  });
}

export function cursorWhenBegun(_parent: unknown, _args: unknown, ctx: Context): string {
  ctx.doNotCache();
  return ctx.hub.cursorAt(ctx.beganAt);
}
