import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import type { ClinicRecord, OrganizationRecord, ProgramRecord } from '../rest/records.ts';
import { requireAccess } from './access/require-access.ts';
import { listed } from './list.ts';
import { listedHere } from './listed-here.ts';
import type { ClinicRef, OrganizationRef, ProgramRef } from './refs.ts';

export const toOrganization = (record: OrganizationRecord): OrganizationRef => ({
  kind: 'organization',
  id: record.id,
  record,
  open: true,
});

export const toProgram = (record: ProgramRecord): ProgramRef => ({
  kind: 'program',
  id: record.id,
  record,
  open: true,
});

/** All of them for whoever acts for the partner; otherwise those that a grant names. */
export function organizationsOfViewer(_parent: unknown, args: WindowArgs, ctx: Context) {
  if (ctx.reach.isPartner) return listed({ name: 'organizations' }, args, ctx, toOrganization);
  const granted = ctx.reach
    .granted('organization')
    .map((id): OrganizationRef => ({ kind: 'organization', id, open: true }));
  return listedHere('granted organizations', granted, args, ctx);
}

export function clinicsOfOrganization(parent: OrganizationRef, args: WindowArgs, ctx: Context) {
  const toClinic = (record: ClinicRecord): ClinicRef => ({
    kind: 'clinic',
    id: record.id,
    record,
    open: true,
    organizationId: parent.id,
  });
  const list = { name: 'clinicsOfOrganization', id: parent.id } as const;
  return requireAccess(parent, ctx, () => listed(list, args, ctx, toClinic));
}

export function programsOfOrganization(parent: OrganizationRef, args: WindowArgs, ctx: Context) {
  const list = { name: 'programsOfOrganization', id: parent.id } as const;
  return requireAccess(parent, ctx, () => listed(list, args, ctx, toProgram));
}
