import { answerOf } from '../answers.ts';
import { headersOf } from '../gateway.ts';
import type { Target } from '../targets.ts';
import { CACHED_INDEX, DOCUMENTS, type Workload, requestBody } from '../workloads.ts';
import { clinicOfNote } from '../world.ts';
import type { Contender, Row } from './request-row.ts';

/** The cases in which the gateway has more to do than in a row itself; opens what they need. */
export async function openHarderCases(gateway: Target) {
  const cases = { 'clinic viewer': await clinicViewer(gateway), ids: await withIds(gateway) };
  return ({ harder }: Row): readonly Contender[] =>
    harder ? [{ ...cases[harder], isHarder: true }] : [];
}

/** Selects the `id` of every record too. */
async function withIds(gateway: Target): Promise<Contender> {
  const bytesOf = async (workload: Workload) =>
    (await answerOf(gateway, workload, requestBody(workload, 'hot', 0, true))).bytes;
  const [W1, W2S, W2] = await Promise.all([bytesOf('W1'), bytesOf('W2S'), bytesOf('W2')]);
  return { ...gateway, name: 'gateway, with ids', answerBytes: { W1, W2S, W2 }, hasIds: true };
}

/** May see one clinic. That the note of W1 lies in it has to be proven; the gateway has met all that lies there. */
async function clinicViewer(gateway: Target): Promise<Target> {
  const id = clinicOfNote(CACHED_INDEX);
  const headers = await headersOf('clinic-viewer', [`clinic:${id}`]);
  const viewer = { ...gateway, name: 'gateway, clinic viewer', headers };
  await answerOf(viewer, 'W2S', JSON.stringify({ query: DOCUMENTS.W2S, variables: { id } }));
  return viewer;
}
