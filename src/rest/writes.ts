import type { Uuid } from '../uuid.ts';
import { secondaryCliniciansBody } from './assumed-names.ts';
import type { Client } from './client/client.ts';
import type { Repeat } from './client/retry.ts';
import { route } from './endpoints.ts';
import { PartnerContractBroken } from './errors.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import type { Usage } from './usage.ts';

function write(method: 'POST' | 'PATCH', template: string, repeat: Repeat) {
  const kind = { method, template, repeat, isWrite: true, isAuthorized: true };
  return { kind, path: route(template).path };
}

const magicEdit = write('POST', '/progress-notes/:progressNoteId/magic-edit', 'never');
const regenerate = write('POST', '/progress-notes/:progressNoteId/regenerate', 'never');
const updateNote = write('PATCH', '/progress-notes/:progressNoteId', 'twice');
const assign = write('POST', '/clients/:clientId/secondary-clinicians', 'freely');
const mint = write('POST', '/clinicians/:clinicianId/authenticate', 'never');

/**
 * What changes something. None of them is cut off by the end of its operation once it is sent. The answers
 * are the API's own, undocumented, and null where there was none; caches are the caller's to drop.
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
  assignSecondaryClinicians(
    clientId: Uuid,
    clinicianIds: readonly Uuid[],
    usage: Usage,
  ): Promise<unknown> {
    return this.send(assign, clientId, secondaryCliniciansBody(clinicianIds), usage);
  }

  /** One pair of tokens, to be handed on unchanged, names included. */
  async authenticateClinician(clinicianId: Uuid, usage: Usage): Promise<JsonObject> {
    const tokens = await this.send(mint, clinicianId, undefined, usage);
    if (isObject(tokens) && typeof tokens['AccessToken'] === 'string') return tokens;
    throw new PartnerContractBroken(mint.kind.template, 'wanted tokens, but got something else');
  }

  private async send(
    { kind, path }: ReturnType<typeof write>,
    id: Uuid,
    body: unknown,
    usage: Usage,
  ): Promise<unknown> {
    const text = body === undefined ? null : JSON.stringify(body);
    return (await this.client.send(kind, path(id), text, usage)) ?? null;
  }
}
