import {
  type AssignmentOutcome,
  assignSecondaryClinicians,
} from '../resolvers/secondary-clinicians.ts';
import { auditedWrite } from '../resolvers/audited-write.ts';
import { oneCall } from '../resolvers/price.ts';
import { builder } from './builder.ts';
import { idOf } from './global-id.ts';
import { InvalidInput, NotFound, typeOfOutcome } from './problems.ts';
import { Client } from './refs.ts';

type Assigned = Extract<AssignmentOutcome, { kind: 'assigned' }>;

const SecondaryCliniciansAssigned = builder
  .objectRef<Assigned>('SecondaryCliniciansAssigned')
  .implement({
    description: 'The clinicians are assigned, those included who were before.',
    fields: (t) => ({
      client: t.expose('client', { type: Client, description: 'To whom.', nullable: false }),
      raw: t.expose('raw', { type: 'JSON', description: 'The Partner API’s answer.' }),
    }),
  });

const AssignSecondaryCliniciansInput = builder.inputType('AssignSecondaryCliniciansInput', {
  description: 'Whom to assign, and to which client.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'The client.' }),
    clinicianIds: t.idList({
      required: true,
      description: '1 to 50 clinicians; one named twice counts once.',
    }),
  }),
});

const AssignSecondaryCliniciansResult = builder.unionType('AssignSecondaryCliniciansResult', {
  description: 'What became of an assignment.',
  types: [SecondaryCliniciansAssigned, InvalidInput, NotFound],
  resolveType: typeOfOutcome,
});

builder.mutationFields((t) => ({
  assignSecondaryClinicians: t.field({
    type: AssignSecondaryCliniciansResult,
    description:
      'Clinicians already assigned are skipped: safe to repeat, after OUTCOME_UNKNOWN too.',
    args: {
      input: t.arg({
        type: AssignSecondaryCliniciansInput,
        required: true,
        description: 'What to do.',
      }),
    },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => {
      const clientId = idOf('Client', 'clientId', input.clientId, ctx.ids);
      const clinicianIds = input.clinicianIds.map((id) =>
        idOf('Clinician', 'clinicianIds', id, ctx.ids),
      );
      return auditedWrite('assignSecondaryClinicians', `Client:${clientId}`, ctx, () =>
        assignSecondaryClinicians({ clientId, clinicianIds }, ctx),
      );
    },
  }),
}));
