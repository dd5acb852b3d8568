import {
  type AssignmentOutcome,
  assignSecondaryClinicians,
} from '../../resolvers/mutations/secondary-clinicians.ts';
import { oneCall } from '../../resolvers/price.ts';
import { builder, requiredArg } from '../builder.ts';
import { idOf } from '../global-id.ts';
import { Client } from '../nodes/refs.ts';
import { InvalidInput, NotFound, typeOfOutcome } from './problems.ts';

type Assigned = Extract<AssignmentOutcome, { kind: 'assigned' }>;

const SecondaryCliniciansAssigned = builder
  .objectRef<Assigned>('SecondaryCliniciansAssigned')
  .implement({
    description: 'All the clinicians are assigned, including those that already were.',
    fields: (t) => ({
      client: t.expose('client', { type: Client, description: 'The client.', nullable: false }),
      raw: t.expose('raw', { type: 'JSON', description: 'The Partner API’s response.' }),
    }),
  });

const AssignSecondaryCliniciansInput = builder.inputType('AssignSecondaryCliniciansInput', {
  description: 'The client, and the clinicians to assign.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'Global id or UUID of the client.' }),
    clinicianIds: t.idList({
      required: true,
      description: 'Global ids or UUIDs of 1 to 50 clinicians. Duplicates count once.',
    }),
  }),
});

const AssignSecondaryCliniciansResult = builder.unionType('AssignSecondaryCliniciansResult', {
  description: 'The outcome of an assignment.',
  types: [SecondaryCliniciansAssigned, InvalidInput, NotFound],
  resolveType: typeOfOutcome,
});

builder.mutationFields((t) => ({
  assignSecondaryClinicians: t.field({
    type: AssignSecondaryCliniciansResult,
    description:
      'Assigns secondary clinicians to a client. Those already assigned are skipped, so it is safe to repeat, also after OUTCOME_UNKNOWN.',
    args: {
      input: t.arg(requiredArg(AssignSecondaryCliniciansInput, 'The client and the clinicians.')),
    },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => {
      const clientId = idOf('Client', 'clientId', input.clientId, ctx.ids);
      const clinicianIds = input.clinicianIds.map((id) =>
        idOf('Clinician', 'clinicianIds', id, ctx.ids),
      );
      return assignSecondaryClinicians({ clientId, clinicianIds }, ctx);
    },
  }),
}));
