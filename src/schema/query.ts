import { scoreById } from '../resolvers/assessment-score.ts';
import { byId } from '../resolvers/lookup/by-id.ts';
import { organizationsOfViewer } from '../resolvers/organization.ts';
import { partnerRecord } from '../resolvers/partner.ts';
import { noteByName } from '../resolvers/progress-note.ts';
import { viewerOf } from '../resolvers/viewer.ts';
import type { JsonObject } from '../rest/json.ts';
import { builder } from './builder.ts';
import { OrganizationConnection, windowArgs } from './connection.ts';
import { listPrice, oneCall } from '../resolvers/price.ts';
import { idOf, idWithClientOf, namedSessionOf, noteNameOf, optionalIdOf } from './global-id.ts';
import { wantsAttributes, wantsAttributesOrId } from './look-ahead.ts';
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
      resolve: (_root, args, ctx, info) => {
        const id = idOf('Organization', 'id', args.id, ctx.ids);
        return byId(
          { kind: 'organization', id, open: false },
          wantsAttributes(info, 'Organization'),
          ctx,
        );
      },
    }),
    clinic: t.field({
      type: Clinic,
      description:
        'A clinic by its id. With `organizationId` it is looked up there and nowhere else.',
      args: {
        id: t.arg.id({ required: true, description: 'Its id.' }),
        organizationId: t.arg.id({ description: 'The organization that holds it.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const { ids } = ctx;
        const id = idOf('Clinic', 'id', args.id, ids);
        const organizationId = optionalIdOf(
          'Organization',
          'organizationId',
          args.organizationId,
          ids,
        );
        const clinic = { kind: 'clinic', id, named: { organizationId }, open: false } as const;
        return byId(clinic, wantsAttributes(info, 'Clinic'), ctx);
      },
    }),
    clinician: t.field({
      type: Clinician,
      description:
        'A clinician by their id. With `clinicId` they are looked up there and nowhere else.',
      args: {
        id: t.arg.id({ required: true, description: 'Their id.' }),
        clinicId: t.arg.id({ description: 'The clinic they work in.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const id = idOf('Clinician', 'id', args.id, ctx.ids);
        const clinicId = optionalIdOf('Clinic', 'clinicId', args.clinicId, ctx.ids);
        const clinician = { kind: 'clinician', id, named: { clinicId }, open: false } as const;
        return byId(clinician, wantsAttributes(info, 'Clinician'), ctx);
      },
    }),
    client: t.field({
      type: Client,
      description:
        'A client by their id. With `clinicId` or `clinicianId` they are looked up there and nowhere else.',
      args: {
        id: t.arg.id({ required: true, description: 'Their id.' }),
        clinicId: t.arg.id({ description: 'The clinic they are a client of.' }),
        clinicianId: t.arg.id({ description: 'The clinician they are a client of.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const { ids } = ctx;
        const id = idOf('Client', 'id', args.id, ids);
        const named = {
          clinicId: optionalIdOf('Clinic', 'clinicId', args.clinicId, ids),
          clinicianId: optionalIdOf('Clinician', 'clinicianId', args.clinicianId, ids),
        };
        return byId(
          { kind: 'client', id, named, open: false },
          wantsAttributes(info, 'Client'),
          ctx,
        );
      },
    }),
    session: t.field({
      type: Session,
      description:
        'A session by its id. A bare UUID needs `clientId`, unless a grant names the session: it is looked up there and nowhere else.',
      args: {
        id: t.arg.id({ required: true, description: 'Its id.' }),
        clientId: t.arg.id({ description: 'The client whose session it is.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const named = { clientId: optionalIdOf('Client', 'clientId', args.clientId, ctx.ids) };
        const name = idWithClientOf('Session', 'id', args.id, ctx.ids);
        const session = { kind: 'session', ...name, named, open: false } as const;
        const wanted =
          named.clientId && !name.clientId
            ? wantsAttributesOrId(info, 'Session')
            : wantsAttributes(info, 'Session');
        return byId(session, wanted, ctx);
      },
    }),
    progressNote: t.field({
      type: ProgressNote,
      description:
        'A note by its id. A bare UUID needs `sessionId` and `clientId`, so that the gateway can prove whose note it is.',
      args: {
        id: t.arg.id({ required: true, description: 'Its id.' }),
        sessionId: t.arg.id({ description: 'The session it belongs to.' }),
        clientId: t.arg.id({ description: 'The client whose session it is.' }),
      },
      extensions: oneCall,
      resolve: (_root, args, ctx) =>
        noteByName(noteNameOf('id', args.id, ctx.ids), namedSessionOf(args, ctx.ids), ctx),
    }),
    assessmentScore: t.field({
      type: AssessmentScore,
      description:
        'A score by its id. A bare UUID is for a `partner` alone: it does not say whose score it is.',
      args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
      extensions: oneCall,
      resolve: (_root, { id }, ctx) =>
        scoreById(idWithClientOf('AssessmentScore', 'id', id, ctx.ids), ctx),
    }),
  }),
});
