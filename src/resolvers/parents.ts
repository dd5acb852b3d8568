import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { auditDenial } from './access/audit-reads.ts';
import { isOpen } from './access/prove.ts';
import { find } from './lookup/find.ts';
import type {
  ClientRef,
  ClinicRef,
  ClinicianRef,
  ListedRef,
  OrganizationRef,
  SessionRef,
} from './refs.ts';

/**
 * A link to a parent, for viewers who may read the record or came up to it from one that they may read. For everyone
 * else it is null: a made-up id must not reveal a record's parents.
 */
function parentLink<R extends ListedRef, T>(
  ref: R,
  ctx: Context,
  parentOf: (ref: R, ctx: Context) => Promise<T | null>,
): Loaded<T | null> {
  if (ref.above) return parentOf(ref, ctx);
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (open) return parentOf(ref, ctx);
    auditDenial(ref, ctx);
    return null;
  });
}

/** A parent: only its id may be shown until access to it is proven. */
const above = <K extends ListedRef['kind']>(kind: K, id: Uuid | undefined) =>
  id ? { kind, id, open: false, above: true as const } : null;

type Link<R, T> = (ref: R, args: unknown, ctx: Context) => Loaded<T | null>;

export const organizationOfClinic: Link<ClinicRef, OrganizationRef> = (clinic, _args, ctx) =>
  parentLink(clinic, ctx, async () =>
    above('organization', clinic.organizationId ?? (await find(clinic, ctx))?.list.id),
  );

export const clinicOfClinician: Link<ClinicianRef, ClinicRef> = (clinician, _args, ctx) =>
  parentLink(clinician, ctx, findClinic);

const findClinic = async (clinician: ClinicianRef, ctx: Context): Promise<ClinicRef | null> =>
  above('clinic', clinician.clinicId ?? (await find(clinician, ctx))?.list.id);

/** The clinic whose list holds the client, or that of the clinician whose list does. */
export const clinicOfClient: Link<ClientRef, ClinicRef> = (client, _args, ctx) =>
  parentLink(client, ctx, async () => {
    let { clinicId, clinicianId } = client;
    if (!clinicId && !clinicianId) {
      const list = (await find(client, ctx))?.list;
      if (list?.name === 'clientsOfClinician') clinicianId = list.id;
      else clinicId = list?.id;
    }
    if (clinicId || !clinicianId) return above('clinic', clinicId);
    return findClinic({ kind: 'clinician', id: clinicianId, open: false, above: true }, ctx);
  });

/** Known from the session's id, a list or an event. Otherwise looked up where an argument names the client, or in the event log. */
export const clientOfSession: Link<SessionRef, ClientRef> = (session, _args, ctx) =>
  parentLink(session, ctx, async () => {
    if (session.clientId) return above('client', session.clientId);
    return session.named?.clientId
      ? above('client', (await find(session, ctx))?.list.id)
      : above('client', await ctx.hub.clientOfSession(session.id));
  });
