import type { Ids } from '../data/ids.ts';
import { createRandom, hash } from '../data/random.ts';
import type { Session } from '../data/sessions.ts';
import { themeOf } from './note-text.ts';

/** The MDM of a prescriber's session. The API does not show the last two field names: these are assumed. */
export function mdmText(seed: number, ids: Ids, session: Session) {
  const random = createRandom(hash(seed, session.key, 0x3d3));
  const { problem, medication } = themeOf(seed, session);
  return {
    mdmId: ids.idOf('mdm', session.key),
    problemsAddressed: [
      {
        problem,
        rationale: `Chronic condition, ${problem}, not yet at the treatment goal.`,
        level: random.pick(['low', 'moderate', 'high']),
      },
      {
        problem: 'functional impairment at work',
        rationale: 'Reviewed as a consequence of the above; no separate treatment.',
        level: random.pick(['na', 'minimal', 'low', 'moderate', 'high']),
      },
    ],
    riskOfComplications: {
      level: random.pick(['minimal', 'low', 'moderate']),
      rationale: `Prescription drug management (${medication}) with monitoring of side effects.`,
    },
    crisisInterventionIdentified: random.chance(0.05),
  };
}
