import type { Uuid } from '../uuid.ts';
import { secondaryCliniciansBody } from './assumed-names.ts';
import type { Client } from './client/client.ts';
import type { Repeat } from './client/retry.ts';
import { route } from './endpoints.ts';
import type { Route } from './endpoints.ts';
import { PartnerContractBroken } from './errors.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import type { Usage } from './usage.ts';

/**
 * What changes something. None of them is cut off by the end of its operation once it is sent. The answers
 * are the API's own, undocumented, and null where there was none; caches are the caller's to drop.
 */
export interface Writes {
  magicEdit(id: Uuid, userInstructions: string, usage: Usage): Promise<unknown>;
  regenerate(id: Uuid, usage: Usage): Promise<unknown>;
  updateNote(id: Uuid, patch: unknown, usage: Usage): Promise<unknown>;
  /** Clinicians already assigned are skipped. */
  assignSecondaryClinicians(
    clientId: Uuid,
    clinicianIds: readonly Uuid[],
    usage: Usage,
  ): Promise<unknown>;
  /** One pair of tokens, to be handed on unchanged, names included. */
  authenticateClinician(clinicianId: Uuid, usage: Usage): Promise<JsonObject>;
}

const routes = {
  note: route('/progress-notes/:progressNoteId'),
  magicEdit: route('/progress-notes/:progressNoteId/magic-edit'),
  regenerate: route('/progress-notes/:progressNoteId/regenerate'),
  secondaryClinicians: route('/clients/:clientId/secondary-clinicians'),
  authenticateClinician: route('/clinicians/:clinicianId/authenticate'),
};

export function createWrites(client: Client): Writes {
  const write = async (
    method: 'POST' | 'PATCH',
    { path, template }: Route,
    id: Uuid,
    body: unknown,
    repeat: Repeat,
    usage: Usage,
  ): Promise<unknown> => {
    const json = await client.send(
      {
        method,
        template,
        path: path(id),
        body: body === undefined ? null : JSON.stringify(body),
        repeat,
        isWrite: true,
        isAuthorized: true,
        traceHeaders: usage.traceHeaders,
      },
      usage,
    );
    return json ?? null;
  };

  return {
    magicEdit: (id, userInstructions, usage) =>
      write('POST', routes.magicEdit, id, { userInstructions }, 'never', usage),
    regenerate: (id, usage) => write('POST', routes.regenerate, id, undefined, 'never', usage),
    updateNote: (id, patch, usage) => write('PATCH', routes.note, id, patch, 'twice', usage),
    assignSecondaryClinicians: (clientId, clinicianIds, usage) =>
      write(
        'POST',
        routes.secondaryClinicians,
        clientId,
        secondaryCliniciansBody(clinicianIds),
        'freely',
        usage,
      ),
    async authenticateClinician(clinicianId, usage) {
      const { authenticateClinician: mint } = routes;
      const tokens = await write('POST', mint, clinicianId, undefined, 'never', usage);
      if (isObject(tokens) && typeof tokens['AccessToken'] === 'string') return tokens;
      throw new PartnerContractBroken(mint.template, 'wanted tokens, but got something else');
    },
  };
}
