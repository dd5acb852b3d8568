/**
 * Names that the Partner API's documentation does not show. Each is a guess, read leniently, so that a wrong
 * one costs a null beside an intact `raw` and never an error. Nothing else in this gateway is guessed.
 */
import type { Uuid } from '../uuid.ts';
import type { JsonObject } from '../json.ts';

/** "A total score": assumed to be `totalScore`. */
export const totalScoreOf = ({ totalScore }: JsonObject): number | null =>
  Number.isFinite(totalScore) ? (totalScore as number) : null;

/** "Per-question answers": assumed to be `answers`; the fields of each are documented. */
export const answersOf = (score: JsonObject): unknown => score['answers'];

/** "Risk of complications": whatever stands under the first key with `risk` in it. */
export const riskOf = (mdm: JsonObject): unknown =>
  Object.entries(mdm).find(([key]) => /risk/i.test(key))?.[1];

/** "Whether crisis intervention was identified": the first boolean whose key has `crisis` in it. */
export function crisisInterventionOf(mdm: JsonObject): boolean | null {
  for (const [key, value] of Object.entries(mdm))
    if (/crisis/i.test(key) && typeof value === 'boolean') return value;
  return null;
}

/** The body of POST secondary-clinicians. */
export const secondaryCliniciansBody = (clinicianIds: readonly Uuid[]) => ({ clinicianIds });
