import type { Context } from '../context.ts';
import type { Uuid } from '../uuid.ts';
import { missed, saw } from './access/audit-reads.ts';
import { isOpen } from './access/prove.ts';
import { findInList } from './lookup/find-in-list.ts';
import type { MagicEditRef } from './refs.ts';

/** By its global id, which names its clinician: there is one list to look in. */
export async function magicEditById(
  { clinicianId, id }: { readonly clinicianId: Uuid; readonly id: Uuid },
  wantsAttributes: boolean,
  ctx: Context,
): Promise<MagicEditRef | null> {
  const edit = { kind: 'magic-edit', id, clinicianId } as const;
  const isFound =
    (await isOpen({ kind: 'clinician', id: clinicianId, open: false }, ctx)) &&
    (!wantsAttributes || (await recordOf(edit, ctx)) !== undefined);
  (isFound ? saw : missed)(edit, ctx);
  return isFound ? edit : null;
}

export async function magicEditRaw(edit: MagicEditRef, _args: unknown, ctx: Context) {
  const record = edit.record ?? (await recordOf(edit, ctx));
  return record?.raw ?? null;
}

const recordOf = ({ clinicianId, id }: MagicEditRef, ctx: Context) =>
  findInList({ name: 'magicEditsOfClinician', id: clinicianId }, id, ctx);
