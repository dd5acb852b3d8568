import { scoreById } from '../resolvers/assessment-score.ts';
import { byId } from '../resolvers/lookup/by-id.ts';
import { organizationsOfViewer } from '../resolvers/organization.ts';
import { partnerRecord } from '../resolvers/partner.ts';
import { forGranted, oneCall } from '../resolvers/price.ts';
import { noteByName } from '../resolvers/progress-note.ts';
import {
  clientsOfViewer,
  cliniciansOfViewer,
  clinicsOfViewer,
  grantsOf,
  sessionsOfViewer,
  viewerOf,
} from '../resolvers/viewer.ts';
import type { JsonObject } from '../rest/json.ts';
import type { Viewer as ViewerShape } from '../viewer/viewer.ts';
import { builder, required, requiredArg } from './builder.ts';
import { OrganizationConnection, list } from './connection.ts';
import { idOf, idWithClientOf, namedSessionOf, noteNameOf, optionalIdOf } from './global-id.ts';
import { wantsAttributes, wantsAttributesOrId } from './look-ahead.ts';
import {
  AssessmentScore,
  Client,
  Clinic,
  Clinician,
  Organization,
  ProgressNote,
  RAW,
  Session,
} from './nodes/refs.ts';

const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: 'The signed-in caller, and the records that the caller’s grants name.',
  fields: (t) => ({
    subject: t.expose('subject', required('String', 'The subject of the caller’s token.')),
    grants: t.stringList({
      description:
        'The caller’s grants: `partner`, or `organization:`, `clinic:`, `clinician:`, `client:` or `session:` and a UUID.',
      nullable: false,
      resolve: grantsOf,
    }),
    organizations: t.field({
      type: OrganizationConnection,
      description: 'The organizations named in the caller’s grants; all of them for `partner`.',
      ...list,
      resolve: organizationsOfViewer,
    }),
    clinics: t.field({
      ...required([Clinic], 'The clinics named in the caller’s grants.'),
      extensions: forGranted('clinic'),
      resolve: clinicsOfViewer,
    }),
    clinicians: t.field({
      ...required(
        [Clinician],
        'The clinicians named in the caller’s grants: for most frontends, the one who is signed in.',
      ),
      extensions: forGranted('clinician'),
      resolve: cliniciansOfViewer,
    }),
    clients: t.field({
      ...required([Client], 'The clients named in the caller’s grants.'),
      extensions: forGranted('client'),
      resolve: clientsOfViewer,
    }),
    sessions: t.field({
      ...required([Session], 'The sessions named in the caller’s grants.'),
      extensions: forGranted('session'),
      resolve: sessionsOfViewer,
    }),
  }),
});

const Partner = builder.objectRef<JsonObject>('Partner').implement({
  description: 'The partner organization itself.',
  fields: (t) => ({
    raw: t.field({ ...RAW, nullable: false, resolve: (partner) => partner }),
  }),
});

builder.queryType({
  description:
    'Queries. Most records have no get-by-id in the Partner API: they are looked up in lists, and only when a selected field needs it.',
  fields: (t) => ({
    viewer: t.field({
      ...required(Viewer, 'The signed-in caller: where to start without knowing an id.'),
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
      description: 'The organizations named in the caller’s grants; all of them for `partner`.',
      ...list,
      resolve: organizationsOfViewer,
    }),
    organization: t.field({
      type: Organization,
      description: 'An organization by its id.',
      args: { id: t.arg(requiredArg('ID', 'Global id or UUID of the organization.')) },
      resolve: (_root, args, ctx, info) => {
        const id = idOf('Organization', 'id', args.id, ctx.ids);
        const organization = { kind: 'organization', id, open: false } as const;
        return byId(organization, wantsAttributes(info, 'Organization'), ctx);
      },
    }),
    clinic: t.field({
      type: Clinic,
      description: 'A clinic by its id. With `organizationId`, it is looked up only there.',
      args: {
        id: t.arg(requiredArg('ID', 'Global id or UUID of the clinic.')),
        organizationId: t.arg.id({ description: 'The organization of the clinic.' }),
      },
      resolve: (_root, { organizationId, ...args }, ctx, info) => {
        const { ids } = ctx;
        const id = idOf('Clinic', 'id', args.id, ids);
        const named = {
          organizationId: optionalIdOf('Organization', 'organizationId', organizationId, ids),
        };
        const clinic = { kind: 'clinic', id, named, open: false } as const;
        return byId(clinic, wantsAttributes(info, 'Clinic'), ctx);
      },
    }),
    clinician: t.field({
      type: Clinician,
      description: 'A clinician by their id. With `clinicId`, they are looked up only there.',
      args: {
        id: t.arg(requiredArg('ID', 'Global id or UUID of the clinician.')),
        clinicId: t.arg.id({ description: 'The clinic of the clinician.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const id = idOf('Clinician', 'id', args.id, ctx.ids);
        const named = { clinicId: optionalIdOf('Clinic', 'clinicId', args.clinicId, ctx.ids) };
        const clinician = { kind: 'clinician', id, named, open: false } as const;
        return byId(clinician, wantsAttributes(info, 'Clinician'), ctx);
      },
    }),
    client: t.field({
      type: Client,
      description:
        'A client by their id. With `clinicId` or `clinicianId`, they are looked up only there.',
      args: {
        id: t.arg(requiredArg('ID', 'Global id or UUID of the client.')),
        clinicId: t.arg.id({ description: 'The clinic of the client.' }),
        clinicianId: t.arg.id({ description: 'The clinician of the client.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const id = idOf('Client', 'id', args.id, ctx.ids);
        const named = {
          clinicId: optionalIdOf('Clinic', 'clinicId', args.clinicId, ctx.ids),
          clinicianId: optionalIdOf('Clinician', 'clinicianId', args.clinicianId, ctx.ids),
        };
        const client = { kind: 'client', id, named, open: false } as const;
        return byId(client, wantsAttributes(info, 'Client'), ctx);
      },
    }),
    session: t.field({
      type: Session,
      description:
        'A session by its id. A bare UUID needs `clientId`, unless a grant names the session; it is looked up only there.',
      args: {
        id: t.arg(requiredArg('ID', 'Global id or UUID of the session.')),
        clientId: t.arg.id({ description: 'The client of the session.' }),
      },
      resolve: (_root, args, ctx, info) => {
        const named = { clientId: optionalIdOf('Client', 'clientId', args.clientId, ctx.ids) };
        const name = idWithClientOf('Session', 'id', args.id, ctx.ids);
        const session = { kind: 'session', ...name, named, open: false } as const;
        const wants = named.clientId && !name.clientId ? wantsAttributesOrId : wantsAttributes;
        return byId(session, wants(info, 'Session'), ctx);
      },
    }),
    progressNote: t.field({
      type: ProgressNote,
      description:
        'A progress note by its id. A bare UUID needs `sessionId` and `clientId`, so that access can be proven.',
      args: {
        id: t.arg(requiredArg('ID', 'Global id or UUID of the note.')),
        sessionId: t.arg.id({ description: 'The session of the note.' }),
        clientId: t.arg.id({ description: 'The client of the session.' }),
      },
      extensions: oneCall,
      resolve: (_root, args, ctx) =>
        noteByName(noteNameOf('id', args.id, ctx.ids), namedSessionOf(args, ctx.ids), ctx),
    }),
    assessmentScore: t.field({
      type: AssessmentScore,
      description:
        'An assessment score by its id. A bare UUID works for `partner` only, because it does not say which client the score belongs to.',
      args: { id: t.arg(requiredArg('ID', 'Global id or UUID of the score.')) },
      extensions: oneCall,
      resolve: (_root, { id }, ctx) =>
        scoreById(idWithClientOf('AssessmentScore', 'id', id, ctx.ids), ctx),
    }),
  }),
});
