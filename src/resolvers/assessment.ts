import type { Context } from '../context.ts';
import type { AssessmentRecord } from '../rest/records.ts';
import type { AssessmentRef } from './refs.ts';
import { findInList } from './search.ts';

/** Assessments are named within their clinic, so there is one list to look in. */
export function assessmentAttribute<K extends keyof AssessmentRecord>(name: K) {
  return async (
    { clinicId, id, record }: AssessmentRef,
    _args: unknown,
    ctx: Context,
  ): Promise<AssessmentRecord[K] | null> => {
    const found =
      record ??
      (await findInList({ list: { name: 'assessmentsOfClinic', id: clinicId } }, id, ctx));
    return found?.[name] ?? null;
  };
}
