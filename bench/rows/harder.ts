import { answerOf } from '../answers.ts';
import { headersOf } from '../gateway.ts';
import type { Target } from '../targets.ts';
import { CACHED_INDEX, DOCUMENTS } from '../workloads.ts';
import { clinicOfNote } from '../world.ts';
import type { Contender, Row } from './request-row.ts';

/** The cases in which the gateway has more to do than in a row itself; opens what they need. */
export async function openHarderCases(gateway: Target) {
  const viewer = await clinicViewer(gateway);
  return ({ harder }: Row): readonly Contender[] =>
    harder === 'clinic viewer' ? [{ ...viewer, isHarder: true }] : [];
}

/** May see one clinic. That the note of W1 lies in it has to be proven; the gateway has met all that lies there. */
async function clinicViewer(gateway: Target): Promise<Target> {
  const id = clinicOfNote(CACHED_INDEX);
  const headers = await headersOf('clinic-viewer', [`clinic:${id}`]);
  const viewer = { ...gateway, name: 'gateway, clinic viewer', headers };
  await answerOf(viewer, 'W2S', JSON.stringify({ query: DOCUMENTS.W2S, variables: { id } }));
  return viewer;
}
