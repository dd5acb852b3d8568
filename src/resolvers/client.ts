import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import type { SessionRecord } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import { parentLink } from './access/parent-link.ts';
import { requireAccess } from './access/require-access.ts';
import { clinicOfClinician } from './clinician.ts';
import { listed } from './list.ts';
import { find } from './lookup/find.ts';
import { toProgram } from './organization.ts';
import type { ClientRef, ClinicRef, SessionRef } from './refs.ts';

/** The clinic whose list holds the client, or that of the clinician whose list does. */
export function clinicOfClient(
  client: ClientRef,
  _args: unknown,
  ctx: Context,
): Loaded<ClinicRef | null> {
  return parentLink(client, ctx, async () => {
    if (client.clinicId) return clinicAbove(client.clinicId);
    if (client.clinicianId) return clinicOfClinicianById(client.clinicianId, ctx);
    const list = (await find(client, ctx))?.list;
    if (!list?.id) return null;
    return list.name === 'clientsOfClinician'
      ? clinicOfClinicianById(list.id, ctx)
      : clinicAbove(list.id);
  });
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
  return requireAccess(client, ctx, () => listed(list, args, ctx, toSession));
}

export function programsOfClient(client: ClientRef, args: WindowArgs, ctx: Context) {
  const list = { name: 'programsOfClient', id: client.id } as const;
  return requireAccess(client, ctx, () => listed(list, args, ctx, toProgram));
}
