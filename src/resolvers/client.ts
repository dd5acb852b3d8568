import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import type { SessionRecord } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import { isOpenUnder } from './access.ts';
import { clinicOfClinician } from './clinician.ts';
import { listed } from './list.ts';
import { find } from './lookup.ts';
import { opened } from './opened.ts';
import { toProgram } from './organization.ts';
import { parentsOf } from './parents.ts';
import type { ClientRef, ClinicRef, SessionRef } from './refs.ts';
import { upward } from './upward.ts';

interface ClientArgs {
  readonly id: Uuid;
  readonly clinicId?: Uuid | undefined;
  readonly clinicianId?: Uuid | undefined;
}

export async function clientById(args: ClientArgs, ctx: Context): Promise<ClientRef> {
  const { id, clinicId, clinicianId } = args;
  if (ctx.reach.isPartner) {
    return { kind: 'client', id, open: true, hint: { clinicId, clinicianId } };
  }
  const isOpenAt = async (kind: 'clinician' | 'clinic', parentId: Uuid | undefined) =>
    parentId !== undefined && isOpenUnder('client', id, { kind, id: parentId }, ctx);
  const open = (await isOpenAt('clinician', clinicianId)) || (await isOpenAt('clinic', clinicId));
  return { kind: 'client', id, open };
}

/** The clinic is known from the list, the lineage, the clinician's own clinic, or a search, in that order. */
export function clinicOfClient(
  client: ClientRef,
  _args: unknown,
  ctx: Context,
): Loaded<ClinicRef | null> {
  return upward(client, ctx, () => knownClinicOf(client, ctx));
}

async function knownClinicOf(client: ClientRef, ctx: Context): Promise<ClinicRef | null> {
  if (client.clinicId) return clinicAbove(client.clinicId);
  const [clinic] = await parentsOf('client', client.id, 'clinic', ctx);
  if (clinic) return clinicAbove(clinic.id);
  const [clinician] = client.clinicianId
    ? [{ id: client.clinicianId }]
    : await parentsOf('client', client.id, 'clinician', ctx);
  if (clinician) return clinicOfClinicianById(clinician.id, ctx);
  const list = (await find(client, ctx))?.list;
  if (!list?.id) return null;
  return list.name === 'clientsOfClinician'
    ? clinicOfClinicianById(list.id, ctx)
    : clinicAbove(list.id);
}

const clinicAbove = (id: Uuid): ClinicRef => ({ kind: 'clinic', id, open: false, above: true });

const clinicOfClinicianById = (id: Uuid, ctx: Context) =>
  clinicOfClinician({ kind: 'clinician', id, open: false, above: true }, {}, ctx);

export function sessionsOfClient(client: ClientRef, args: WindowArgs, ctx: Context) {
  const toSession = (record: SessionRecord): SessionRef => ({
    kind: 'session',
    id: record.id,
    record,
    open: true,
    clientId: client.id,
  });
  const list = { name: 'sessionsOfClient', id: client.id } as const;
  return opened(client, ctx, () => listed(list, args, ctx, toSession));
}

export function programsOfClient(client: ClientRef, args: WindowArgs, ctx: Context) {
  const list = { name: 'programsOfClient', id: client.id } as const;
  return opened(client, ctx, () => listed(list, args, ctx, toProgram));
}
