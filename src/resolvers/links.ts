import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { ifOpen } from './access/prove.ts';
import { find } from './lookup/find.ts';
import type {
  ClientRef,
  ClinicRef,
  ClinicianRef,
  ListedRef,
  NodeOfType,
  Parents,
  SessionRef,
} from './refs.ts';

/** An upward link, or one of an event: only ids may be shown until access is proven by a list, as for any record. */
export const above = <T extends ListedRef['type']>(type: T, id: Uuid, parents?: Parents) =>
  ({ type, id, open: false, above: true, ...parents }) as NodeOfType<T>;

/**
 * Resolves a link to a parent, for viewers who may read the record or came up to it from one that they may read. For
 * everyone else it is null: a made-up id must not reveal a record's parents.
 */
function parentLink<R extends ListedRef, T extends ListedRef['type']>(
  type: T,
  parentIdOf: (ref: R, ctx: Context) => Loaded<Uuid | undefined>,
) {
  return (ref: R, _args: unknown, ctx: Context): Loaded<NodeOfType<T> | null> => {
    const read = async () => {
      const id = await parentIdOf(ref, ctx);
      return id ? above(type, id) : null;
    };
    return ref.above ? read() : ifOpen(ref, ctx, read);
  };
}

export const organizationOfClinic = parentLink(
  'Organization',
  async (clinic: ClinicRef, ctx) =>
    clinic.organizationId ?? (await find(clinic, ctx))?.organizationId,
);

const clinicIdOf = async (clinician: ClinicianRef, ctx: Context) =>
  clinician.clinicId ?? (await find(clinician, ctx))?.clinicId;

export const clinicOfClinician = parentLink('Clinic', clinicIdOf);

/** The clinic whose list holds the client, or that of the clinician whose list does. */
export const clinicOfClient = parentLink('Clinic', async (client: ClientRef, ctx) => {
  const isKnown = client.clinicId ?? client.clinicianId;
  const { clinicId, clinicianId } = (isKnown ? client : await find(client, ctx)) ?? {};
  return clinicianId && !clinicId ? clinicIdOf(above('Clinician', clinicianId), ctx) : clinicId;
});

/** Known from the session's id, a list or an event. Otherwise looked up where an argument names the client, or in the event log. */
export const clientOfSession = parentLink('Client', async (session: SessionRef, ctx) => {
  if (session.clientId) return session.clientId;
  return session.named?.clientId
    ? (await find(session, ctx))?.clientId
    : ctx.hub.clientOfSession(session.id);
});
