import type { Uuid } from '../uuid.ts';
import type { Repeat } from './attempts.ts';
import { secondaryCliniciansBody } from './assumed-names.ts';
import type { Perform } from './call.ts';
import { cancel, createCancel } from './cancel.ts';
import { CallBudgetExhausted, PartnerContractBroken } from './errors.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import { createLane } from './lane.ts';
import { routes } from './routes.ts';
import type { Route } from './routes.ts';
import { traceHeadersOf } from './trace-headers.ts';
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

export function createWrites(perform: Perform): Writes {
  const write = async (
    method: 'POST' | 'PATCH',
    { path, template }: Route,
    id: Uuid,
    body: unknown,
    repeat: Repeat,
    usage: Usage,
  ): Promise<unknown> => {
    const given = createCancel();
    const stay = usage.onEnd(() => cancel(given));
    try {
      const { json } = await perform({
        method,
        template,
        path: path(id),
        body: body === undefined ? null : JSON.stringify(body),
        repeat,
        isWrite: true,
        isAuthorized: true,
        lane: createLane('write'),
        cancel: given,
        headers: traceHeadersOf(usage),
        charge(isRetry) {
          if (usage.calls >= usage.maxCalls)
            throw new CallBudgetExhausted(template, usage.maxCalls);
          usage.calls += 1;
          if (isRetry) usage.retried += 1;
        },
      });
      return json ?? null;
    } finally {
      stay();
    }
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
      const route = routes.authenticateClinician;
      const tokens = await write('POST', route, clinicianId, undefined, 'never', usage);
      if (isObject(tokens) && typeof tokens['AccessToken'] === 'string') return tokens;
      throw new PartnerContractBroken(route.template, 'wanted tokens, but got something else');
    },
  };
}
