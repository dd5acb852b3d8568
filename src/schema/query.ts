import { scoreById } from '../resolvers/assessment-score.ts';
import { clientById } from '../resolvers/client.ts';
import { clinicById } from '../resolvers/clinic.ts';
import { clinicianById } from '../resolvers/clinician.ts';
import { listedById } from '../resolvers/node.ts';
import { organizationsOfViewer } from '../resolvers/organization.ts';
import { partnerRecord } from '../resolvers/partner.ts';
import { noteByName } from '../resolvers/progress-note.ts';
import { sessionById } from '../resolvers/session.ts';
import { viewerOf } from '../resolvers/viewer.ts';
import type { JsonObject } from '../rest/json.ts';
import { builder } from './builder.ts';
import { OrganizationConnection, windowArgs } from './connection.ts';
import { listPrice, oneCall } from '../resolvers/price.ts';
import { idOf, noteNameOf, optionalIdOf } from './global-id.ts';
import {
  AssessmentScore,
  Client,
  Clinic,
  Clinician,
  Organization,
  ProgressNote,
  Session,
} from './refs.ts';
import { Viewer } from './viewer.ts';

const Partner = builder.objectRef<JsonObject>('Partner').implement({
  description: 'The partner organization itself.',
  fields: (t) => ({
    raw: t.field({
      type: 'JSON',
      description: 'The record exactly as the Partner API returned it.',
      nullable: false,
      resolve: (partner) => partner,
    }),
  }),
});

builder.queryType({
  description:
    'What can be asked. Records that the Partner API only lists are looked for when a field needs them.',
  fields: (t) => ({
    viewer: t.field({
      type: Viewer,
      description: 'Who is asking, and where they may start from.',
      nullable: false,
      resolve: viewerOf,
    }),
    partner: t.field({
      type: Partner,
      description: 'The partner organization itself (GET /partners).',
      extensions: oneCall,
      resolve: partnerRecord,
    }),
    organizations: t.field({
      type: OrganizationConnection,
      description: 'The organizations that are open to the caller.',
      args: windowArgs,
      extensions: listPrice,
      resolve: organizationsOfViewer,
    }),
    organization: t.field({
      type: Organization,
      description: 'An organization by its id.',
      args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
      resolve: (_root, { id }, ctx) =>
        listedById('organization', idOf('Organization', 'id', id), ctx),
    }),
    clinic: t.field({
      type: Clinic,
      description: '`organizationId` saves the search for the organization that holds the clinic.',
      args: {
        id: t.arg.id({ required: true, description: 'Its id.' }),
        organizationId: t.arg.id({ description: 'The organization that holds it.' }),
      },
      resolve: (_root, args, ctx) =>
        clinicById(
          {
            id: idOf('Clinic', 'id', args.id),
            organizationId: optionalIdOf('Organization', 'organizationId', args.organizationId),
          },
          ctx,
        ),
    }),
    clinician: t.field({
      type: Clinician,
      description: '`clinicId` saves the search for the clinic that holds the clinician.',
      args: {
        id: t.arg.id({ required: true, description: 'Their id.' }),
        clinicId: t.arg.id({ description: 'The clinic they work in.' }),
      },
      resolve: (_root, args, ctx) =>
        clinicianById(
          {
            id: idOf('Clinician', 'id', args.id),
            clinicId: optionalIdOf('Clinic', 'clinicId', args.clinicId),
          },
          ctx,
        ),
    }),
    client: t.field({
      type: Client,
      description:
        '`clinicId` or `clinicianId` saves the search for the list that holds the client.',
      args: {
        id: t.arg.id({ required: true, description: 'Their id.' }),
        clinicId: t.arg.id({ description: 'The clinic they are a client of.' }),
        clinicianId: t.arg.id({ description: 'The clinician they are a client of.' }),
      },
      resolve: (_root, args, ctx) =>
        clientById(
          {
            id: idOf('Client', 'id', args.id),
            clinicId: optionalIdOf('Clinic', 'clinicId', args.clinicId),
            clinicianId: optionalIdOf('Clinician', 'clinicianId', args.clinicianId),
          },
          ctx,
        ),
    }),
    session: t.field({
      type: Session,
      description: '`clientId` saves the search for the client whose session it is.',
      args: {
        id: t.arg.id({ required: true, description: 'Its id.' }),
        clientId: t.arg.id({ description: 'The client whose session it is.' }),
      },
      resolve: (_root, args, ctx) =>
        sessionById(
          {
            id: idOf('Session', 'id', args.id),
            clientId: optionalIdOf('Client', 'clientId', args.clientId),
          },
          ctx,
        ),
    }),
    progressNote: t.field({
      type: ProgressNote,
      description: '`sessionId`, with `clientId`, lets the gateway prove whose note it is.',
      args: {
        id: t.arg.id({ required: true, description: 'Its id.' }),
        sessionId: t.arg.id({ description: 'The session it belongs to.' }),
        clientId: t.arg.id({ description: 'The client whose session it is.' }),
      },
      extensions: oneCall,
      resolve: (_root, args, ctx) =>
        noteByName(
          noteNameOf('id', args.id),
          {
            sessionId: optionalIdOf('Session', 'sessionId', args.sessionId),
            clientId: optionalIdOf('Client', 'clientId', args.clientId),
          },
          ctx,
        ),
    }),
    assessmentScore: t.field({
      type: AssessmentScore,
      description: 'A score by its id.',
      args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
      extensions: oneCall,
      resolve: (_root, { id }, ctx) => scoreById(idOf('AssessmentScore', 'id', id), ctx),
    }),
  }),
});
