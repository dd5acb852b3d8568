import { assessmentsOfClinic, type Assessment } from './assessments.ts';
import type { Ids } from './ids.ts';
import { CLIENTS, clinicOfClinician } from './layout.ts';
import { createDraws, hash, nth } from './rng.ts';
import type { Roster } from './roster.ts';

/** Completed assessments. No list of the API leads to them: only the event tells their ids. */
export interface Scores {
  readonly find: (id: string) => object | undefined;
  /** Ids of what `client` completed before the sandbox started. */
  readonly seededOf: (client: number) => readonly string[];
  /** `client` completes `count` assessments of their clinic. */
  readonly complete: (client: number, count: number) => readonly CompletedAssessment[];
}

export interface CompletedAssessment {
  readonly id: string;
  readonly assessmentId: string;
}

const PER_CLIENT = 2;

export function createScores(
  seed: number,
  ids: Ids,
  roster: Roster,
  nextKey: () => number,
): Scores {
  const live = new Map<number, { readonly client: number; readonly assessment: Assessment }>();

  const offeredTo = (client: number) =>
    assessmentsOfClinic(clinicOfClinician(roster.clinicianOf(client) ?? 0));

  function seeded(key: number) {
    const client = Math.floor(key / PER_CLIENT);
    return client < CLIENTS
      ? { client, assessment: nth(offeredTo(client), key % PER_CLIENT) }
      : undefined;
  }

  return {
    seededOf: (client) =>
      Array.from({ length: PER_CLIENT }, (_, n) => ids.idOf('score', client * PER_CLIENT + n)),
    find(id) {
      const key = ids.keyOf('score', id);
      const found = key === undefined ? undefined : (live.get(key) ?? seeded(key));
      if (!found || key === undefined || roster.clinicianOf(found.client) === undefined) {
        return undefined;
      }
      return recordOf(ids.idOf('score', key), found.assessment, hash(seed, key, 0x5c0e));
    },
    complete(client, count) {
      const offered = offeredTo(client);
      return Array.from({ length: Math.min(count, offered.length) }, (_, n) => {
        const key = nextKey();
        const assessment = nth(offered, n);
        live.set(key, { client, assessment });
        return { id: ids.idOf('score', key), assessmentId: assessment.id };
      });
    },
  };
}

function recordOf(id: string, assessment: Assessment, spread: number) {
  const draws = createDraws(spread);
  const answers = assessment.questions.map((questionDisplay, index) => {
    const answerValue = draws.below(assessment.answers.length);
    return {
      questionKey: `${assessment.id}_${index + 1}`,
      questionDisplay,
      answerValue,
      answerDisplay: nth(assessment.answers, answerValue),
    };
  });
  const totalScore = answers.reduce((sum, { answerValue }) => sum + answerValue, 0);
  return { id, assessmentId: assessment.id, totalScore, answers };
}
