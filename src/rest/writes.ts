import { endpoint } from './endpoints.ts';
import { isObject, textOf, type JsonObject } from '../json.ts';

/** The answers are undocumented and passed on unchanged; null if the body is empty. */
const write = (method: 'POST' | 'PATCH', template: string, maxAttempts: number) =>
  endpoint(method, template, maxAttempts, (answer) => answer ?? null);

/** By the names of the mutations. None of them is aborted by the end of its operation once it is sent. The caller invalidates what they change. */
export const writes = {
  magicEdit: write('POST', '/progress-notes/:progressNoteId/magic-edit', 1),
  regenerateProgressNote: write('POST', '/progress-notes/:progressNoteId/regenerate', 1),
  updateProgressNote: write('PATCH', '/progress-notes/:progressNoteId', 2),
  /** Clinicians already assigned are skipped. */
  assignSecondaryClinicians: write('POST', '/clients/:clientId/secondary-clinicians', 3),
  /** One pair of tokens, to be passed on unchanged, names included. */
  authenticateClinician: endpoint('POST', '/clinicians/:clinicianId/authenticate', 1, (answer) =>
    isObject(answer) && isTokenPair(answer) ? answer : undefined,
  ),
};

/** What the schema promises of a pair. The lifetime is a GraphQL Int, of 31 bits. */
function isTokenPair({ AccessToken, RefreshToken, ExpiresIn }: JsonObject): boolean {
  const seconds = Number(ExpiresIn);
  return Boolean(textOf(AccessToken) && textOf(RefreshToken)) && seconds > 0 && seconds < 2 ** 31;
}
