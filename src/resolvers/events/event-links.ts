import type { Context } from '../../context.ts';
import type {
  AssessmentEvent,
  MdmEvent,
  PartnerEvent,
  ProgressNoteEvent,
  SessionEvent,
  TranscriptReadyEvent,
} from '../../events/partner-event.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { endpoints } from '../../rest/endpoints.ts';
import { PartnerContractBroken } from '../../rest/errors.ts';
import { auditDenial } from '../access/audit-reads.ts';
import { isOpen } from '../access/prove.ts';
import { scoreOf } from '../assessment.ts';
import type {
  ClientRef,
  ClinicRef,
  ClinicianRef,
  ListedRef,
  OrganizationRef,
  SessionRef,
} from '../refs.ts';
import { mdmOfSession, noteRef, transcriptOfSession } from '../session.ts';

/** An event shows the ids in it. The records that they name are open only with proof by a list, as any record is. */
const LINK = { open: false, above: true } as const;

export const sessionOfEvent = ({ sessionId, clientId }: SessionEvent): SessionRef => ({
  kind: 'session',
  id: sessionId,
  clientId,
  ...LINK,
});
export const clientOfEvent = ({ clientId }: PartnerEvent): ClientRef => ({
  kind: 'client',
  id: clientId,
  ...LINK,
});
export const clinicianOfEvent = ({ clinicianId, clinicId }: SessionEvent): ClinicianRef => ({
  kind: 'clinician',
  id: clinicianId,
  clinicId,
  ...LINK,
});
export const clinicOfEvent = ({ clinicId, organizationId }: SessionEvent): ClinicRef => ({
  kind: 'clinic',
  id: clinicId,
  organizationId,
  ...LINK,
});
export const organizationOfEvent = ({ organizationId }: SessionEvent): OrganizationRef => ({
  kind: 'organization',
  id: organizationId,
  ...LINK,
});

/** Null if it no longer exists: a later regeneration may have replaced it. */
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

export const scoreOfEvent = (event: AssessmentEvent, _args: unknown, ctx: Context) =>
  ifOpen(clientOfEvent(event), ctx, () =>
    scoreOf({ id: event.scoreId, clientId: event.clientId }, ctx),
  );

/** What an event links to is null, and no error, where the viewer may see the event alone. */
function ifOpen<T>(ref: ListedRef, ctx: Context, inside: () => Loaded<T | null>): Loaded<T | null> {
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (open) return inside();
    auditDenial(ref, ctx);
    return null;
  });
}
