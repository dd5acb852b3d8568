import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import type { ClientRecord, MagicEditRecord } from '../rest/records.ts';
import { parentLink } from './access/parent-link.ts';
import { requireAccess } from './access/require-access.ts';
import { filtered } from './clinic.ts';
import { listed } from './list.ts';
import { find } from './lookup/find.ts';
import type { ClientRef, ClinicRef, ClinicianRef, MagicEditRef } from './refs.ts';

export function clinicOfClinician(
  clinician: ClinicianRef,
  _args: unknown,
  ctx: Context,
): Loaded<ClinicRef | null> {
  return parentLink(clinician, ctx, async () => {
    const id = clinician.clinicId ?? (await find(clinician, ctx))?.list.id;
    return id ? { kind: 'clinic', id, open: false, above: true } : null;
  });
}

interface ClientsArgs extends WindowArgs {
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

export function clientsOfClinician(clinician: ClinicianRef, args: ClientsArgs, ctx: Context) {
  const toClient = (record: ClientRecord): ClientRef => ({
    kind: 'client',
    id: record.id,
    record,
    open: true,
    clinicianId: clinician.id,
  });
  const list = filtered({ name: 'clientsOfClinician', id: clinician.id } as const, args.filter);
  return requireAccess(clinician, ctx, () => listed(list, args, ctx, toClient));
}

export function magicEditsOfClinician(clinician: ClinicianRef, args: WindowArgs, ctx: Context) {
  const toMagicEdit = (record: MagicEditRecord): MagicEditRef => ({
    kind: 'magic-edit',
    id: record.id,
    record,
    clinicianId: clinician.id,
  });
  const list = { name: 'magicEditsOfClinician', id: clinician.id } as const;
  return requireAccess(clinician, ctx, () => listed(list, args, ctx, toMagicEdit));
}
