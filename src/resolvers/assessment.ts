import type { Context } from '../context.ts';
import type { AssessmentRecord } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen } from './access/prove.ts';
import { findInList } from './lookup/find-in-list.ts';
import type { AssessmentRef } from './refs.ts';

/** By its global id, which names its clinic: assessments are unique within their clinic only. */
export async function assessmentById(
  { clinicId, id }: { readonly clinicId: Uuid; readonly id: string },
  wantsAttributes: boolean,
  ctx: Context,
): Promise<AssessmentRef | null> {
  const assessment = { kind: 'assessment', id, clinicId } as const;
  if (!(await isOpen({ kind: 'clinic', id: clinicId, open: false }, ctx))) return null;
  return !wantsAttributes || (await recordOf(assessment, ctx)) ? assessment : null;
}

export function assessmentAttribute<K extends keyof AssessmentRecord>(name: K) {
  return async (
    assessment: AssessmentRef,
    _args: unknown,
    ctx: Context,
  ): Promise<AssessmentRecord[K] | null> => {
    const record = assessment.record ?? (await recordOf(assessment, ctx));
    return record?.[name] ?? null;
  };
}

const recordOf = ({ clinicId, id }: AssessmentRef, ctx: Context) =>
  findInList({ name: 'assessmentsOfClinic', id: clinicId }, id, ctx);
