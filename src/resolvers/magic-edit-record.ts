import type { Context } from '../context.ts';
import type { MagicEditRef } from './refs.ts';
import { findInList } from './search.ts';

/** Magic edits are named within their clinician, so there is one list to look in. */
export async function magicEditRaw(
  { clinicianId, id, record }: MagicEditRef,
  _args: unknown,
  ctx: Context,
) {
  const list = { name: 'magicEditsOfClinician', id: clinicianId } as const;
  const found = record ?? (await findInList({ list }, id, ctx));
  return found?.raw ?? null;
}
