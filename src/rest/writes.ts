import type { Uuid } from '../uuid.ts';
import { secondaryCliniciansBody } from './assumed-names.ts';
import type { Client } from './client/client.ts';
import { route } from './endpoints.ts';
import type { Route } from './endpoints.ts';
import { PartnerContractBroken } from './errors.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import type { Usage } from './usage.ts';

const magicEdit = route('POST', '/progress-notes/:progressNoteId/magic-edit', 'never');
const regenerate = route('POST', '/progress-notes/:progressNoteId/regenerate', 'never');
const updateNote = route('PATCH', '/progress-notes/:progressNoteId', 'twice');
const assign = route('POST', '/clients/:clientId/secondary-clinicians', 'freely');
const mint = route('POST', '/clinicians/:clinicianId/authenticate', 'never');

/**
 * None of them is aborted by the end of its operation once it is sent. The answers are the API's own,
 * undocumented, and null where there was none. The caller invalidates what they change.
 */
export class Writes {
  private readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  magicEdit(id: Uuid, userInstructions: string, usage: Usage): Promise<unknown> {
    return this.send(magicEdit, id, { userInstructions }, usage);
  }

  regenerate(id: Uuid, usage: Usage): Promise<unknown> {
    return this.send(regenerate, id, undefined, usage);
  }

  updateNote(id: Uuid, patch: unknown, usage: Usage): Promise<unknown> {
    return this.send(updateNote, id, patch, usage);
  }

  /** Clinicians already assigned are skipped. */
  assignSecondaryClinicians(id: Uuid, clinicianIds: readonly Uuid[], usage: Usage) {
    return this.send(assign, id, secondaryCliniciansBody(clinicianIds), usage);
  }

  /** One pair of tokens, to be passed on unchanged, names included. */
  async authenticateClinician(clinicianId: Uuid, usage: Usage): Promise<JsonObject> {
    const tokens = await this.send(mint, clinicianId, undefined, usage);
    if (isObject(tokens) && typeof tokens['AccessToken'] === 'string') return tokens;
    throw new PartnerContractBroken(mint.template, 'wanted tokens, but got something else');
  }

  private async send(to: Route, id: Uuid, body: unknown, usage: Usage): Promise<unknown> {
    const text = body === undefined ? null : JSON.stringify(body);
    return (await this.client.send(to, to.path(id), text, usage)) ?? null;
  }
}
