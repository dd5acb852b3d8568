import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { ClientRecord, MagicEditRecord } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import { isOpenUnder } from './access.ts';
import { filtered } from './clinic.ts';
import { listed } from './list.ts';
import { find } from './lookup.ts';
import { opened } from './opened.ts';
import { parentsOf } from './parents.ts';
import type { ClientRef, ClinicRef, ClinicianRef, MagicEditRef } from './refs.ts';
import { upward } from './upward.ts';

interface ClinicianArgs {
  readonly id: Uuid;
  readonly clinicId?: Uuid | undefined;
}

export function clinicianById({ id, clinicId }: ClinicianArgs, ctx: Context): Loaded<ClinicianRef> {
  const clinician: ClinicianRef = { kind: 'clinician', id, open: ctx.reach.isPartner };
  if (!clinicId) return clinician;
  if (clinician.open) return { ...clinician, hint: { clinicId } };
  const parent = { kind: 'clinic', id: clinicId } as const;
  return whenLoaded(isOpenUnder('clinician', id, parent, ctx), (open) => ({ ...clinician, open }));
}

export function clinicOfClinician(
  clinician: ClinicianRef,
  _args: unknown,
  ctx: Context,
): Loaded<ClinicRef | null> {
  return upward(clinician, ctx, async () => {
    const [remembered] = clinician.clinicId
      ? [{ id: clinician.clinicId }]
      : await parentsOf('clinician', clinician.id, 'clinic', ctx);
    const id = remembered?.id ?? (await find(clinician, ctx))?.list.id;
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
  return opened(clinician, ctx, () => listed(list, args, ctx, toClient));
}

export function magicEditsOfClinician(clinician: ClinicianRef, args: WindowArgs, ctx: Context) {
  const toMagicEdit = (record: MagicEditRecord): MagicEditRef => ({
    kind: 'magic-edit',
    id: record.id,
    record,
    clinicianId: clinician.id,
  });
  const list = { name: 'magicEditsOfClinician', id: clinician.id } as const;
  return opened(clinician, ctx, () => listed(list, args, ctx, toMagicEdit));
}
