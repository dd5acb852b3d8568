import type { WindowArgs } from '../connection/window-args.ts';
import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import type { AssessmentRecord, ClientRecord, ClinicianRecord } from '../rest/records.ts';
import { parentLink } from './access/parent-link.ts';
import { requireAccess } from './access/require-access.ts';
import { listed } from './list.ts';
import { find } from './lookup/find.ts';
import type { AssessmentRef, ClientRef, ClinicRef, ClinicianRef, OrganizationRef } from './refs.ts';

export function organizationOfClinic(
  clinic: ClinicRef,
  _args: unknown,
  ctx: Context,
): Loaded<OrganizationRef | null> {
  return parentLink(clinic, ctx, async () => {
    const id = clinic.organizationId ?? (await find(clinic, ctx))?.list.id;
    return id ? { kind: 'organization', id, open: false, above: true } : null;
  });
}

interface CliniciansArgs extends WindowArgs {
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

export function cliniciansOfClinic(clinic: ClinicRef, args: CliniciansArgs, ctx: Context) {
  const toClinician = (record: ClinicianRecord): ClinicianRef => ({
    kind: 'clinician',
    id: record.id,
    record,
    open: true,
    clinicId: clinic.id,
  });
  const list = filtered({ name: 'cliniciansOfClinic', id: clinic.id } as const, args.filter);
  return requireAccess(clinic, ctx, () => listed(list, args, ctx, toClinician));
}

interface ClientsArgs extends WindowArgs {
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

export function clientsOfClinic(clinic: ClinicRef, args: ClientsArgs, ctx: Context) {
  const toClient = (record: ClientRecord): ClientRef => ({
    kind: 'client',
    id: record.id,
    record,
    open: true,
    clinicId: clinic.id,
  });
  const list = filtered({ name: 'clientsOfClinic', id: clinic.id } as const, args.filter);
  return requireAccess(clinic, ctx, () => listed(list, args, ctx, toClient));
}

interface AssessmentsArgs extends WindowArgs {
  readonly defaultOnly?: boolean | null | undefined;
}

export function assessmentsOfClinic(clinic: ClinicRef, args: AssessmentsArgs, ctx: Context) {
  const toAssessment = (record: AssessmentRecord): AssessmentRef => ({
    kind: 'assessment',
    id: record.id,
    record,
    clinicId: clinic.id,
  });
  const { defaultOnly } = args;
  const filter =
    typeof defaultOnly === 'boolean' ? { defaultOnly: String(defaultOnly) } : undefined;
  const list = filtered({ name: 'assessmentsOfClinic', id: clinic.id } as const, filter);
  return requireAccess(clinic, ctx, () => listed(list, args, ctx, toAssessment));
}

/** An empty filter is no filter: the same list, the same cursors, the same cached pages. */
export function filtered<L extends object>(
  list: L,
  filter: Readonly<Record<string, string>> | undefined,
): L & { readonly filter?: Readonly<Record<string, string>> } {
  return filter && Object.keys(filter).length > 0 ? { ...list, filter } : list;
}
