import { themeOf } from './clinical-text.ts';
import type { Ids } from './ids.ts';
import { createDraws, hash } from './rng.ts';
import type { Session } from './session-book.ts';

const MDM_LEVELS = ['na', 'minimal', 'low', 'moderate', 'high'] as const;

/** Medical decision making of a prescriber's session. The API does not show the last two names: these are assumed. */
export function mdmOf(seed: number, ids: Ids, session: Session) {
  const draws = createDraws(hash(seed, session.key, 0x3d3));
  const { problem, medication } = themeOf(seed, session);
  return {
    mdmId: ids.idOf('mdm', session.key),
    problemsAddressed: [
      {
        problem,
        rationale: `Chronic condition, ${problem}, not yet at the treatment goal.`,
        level: draws.pick(['low', 'moderate', 'high'] as const),
      },
      {
        problem: 'functional impairment at work',
        rationale: 'Reviewed as a consequence of the above; no separate treatment.',
        level: draws.pick(MDM_LEVELS),
      },
    ],
    riskOfComplications: {
      level: draws.pick(['minimal', 'low', 'moderate'] as const),
      rationale: `Prescription drug management (${medication}) with monitoring of side effects.`,
    },
    crisisInterventionIdentified: draws.chance(0.05),
  };
}
