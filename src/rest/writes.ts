import type { Uuid } from '../uuid.ts';
import { secondaryCliniciansBody } from './assumed-names.ts';
import type { Client } from './client/client.ts';
import { endpoint, type Endpoint } from './endpoints.ts';
import { isObject, textOf, type JsonObject } from '../json.ts';
import type { Usage } from './usage.ts';

/** The answers are undocumented and passed on unchanged; null if the body is empty. */
const write = (method: 'POST' | 'PATCH', template: string, maxAttempts: number) =>
  endpoint(method, template, maxAttempts, (answer) => answer ?? null);

const magicEdit = write('POST', '/progress-notes/:progressNoteId/magic-edit', 1);
const regenerate = write('POST', '/progress-notes/:progressNoteId/regenerate', 1);
const updateNote = write('PATCH', '/progress-notes/:progressNoteId', 2);
const assign = write('POST', '/clients/:clientId/secondary-clinicians', 3);
const mint = endpoint('POST', '/clinicians/:clinicianId/authenticate', 1, (answer) =>
  isObject(answer) && isTokenPair(answer) ? answer : undefined,
);

/** What the schema promises of a pair. The lifetime is a GraphQL Int, of 31 bits. */
function isTokenPair({ AccessToken, RefreshToken, ExpiresIn }: JsonObject): boolean {
  const seconds = Number(ExpiresIn);
  return Boolean(textOf(AccessToken) && textOf(RefreshToken)) && seconds > 0 && seconds < 2 ** 31;
}

/** None of them is aborted by the end of its operation once it is sent. The caller invalidates what they change. */
export function createWrites(client: Client) {
  async function send<T>(to: Endpoint<T>, id: Uuid, body: unknown, usage: Usage): Promise<T> {
    const path = to.path(id);
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return (await client.call({ endpoint: to, key: path, path, ...text }, usage)).value as T;
  }

  return {
    magicEdit: (id: Uuid, userInstructions: string, usage: Usage) =>
      send(magicEdit, id, { userInstructions }, usage),
    regenerate: (id: Uuid, usage: Usage) => send(regenerate, id, undefined, usage),
    updateNote: (id: Uuid, patch: unknown, usage: Usage) => send(updateNote, id, patch, usage),
    /** Clinicians already assigned are skipped. */
    assignSecondaryClinicians: (id: Uuid, clinicianIds: readonly Uuid[], usage: Usage) =>
      send(assign, id, secondaryCliniciansBody(clinicianIds), usage),
    /** One pair of tokens, to be passed on unchanged, names included. */
    authenticateClinician: (id: Uuid, usage: Usage): Promise<JsonObject> =>
      send(mint, id, undefined, usage),
  };
}
