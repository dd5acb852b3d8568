import type { GraphQLResolveInfo } from 'graphql';

import type { Context } from '../context.ts';
import { scoreById } from '../resolvers/assessment.ts';
import { byId } from '../resolvers/lookup/by-id.ts';
import { forGranted, listPrice, oneCall } from '../resolvers/price.ts';
import { noteByName } from '../resolvers/progress-note.ts';
import type { ListedRef, Parents } from '../resolvers/refs.ts';
import { granted, grantsOf, organizationsOfViewer, partnerRecord } from '../resolvers/viewer.ts';
import type { JsonObject } from '../rest/json.ts';
import type { Viewer as ViewerShape } from '../viewer/viewer.ts';
import { builder, required, requiredArg } from './builder.ts';
import { OrganizationConnection, windowArgs } from './connection.ts';
import { idOf, idWithClientOf, namedSessionOf, noteNameOf, parentsOf } from './global-id.ts';
import { wantsAttributes, wantsAttributesOrId } from './selections.ts';
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

/** Options of `organizations`, of the viewer and at the root. */
const organizations = {
  type: OrganizationConnection,
  description: 'The organizations named in the caller’s grants; all of them for `partner`.',
  args: windowArgs,
  extensions: listPrice,
  resolve: organizationsOfViewer,
};

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
    organizations: t.field(organizations),
    clinics: t.field({
      ...required([Clinic], 'The clinics named in the caller’s grants.'),
      extensions: forGranted('clinic'),
      resolve: granted('clinic'),
    }),
    clinicians: t.field({
      ...required(
        [Clinician],
        'The clinicians named in the caller’s grants: for most frontends, the one who is signed in.',
      ),
      extensions: forGranted('clinician'),
      resolve: granted('clinician'),
    }),
    clients: t.field({
      ...required([Client], 'The clients named in the caller’s grants.'),
      extensions: forGranted('client'),
      resolve: granted('client'),
    }),
    sessions: t.field({
      ...required([Session], 'The sessions named in the caller’s grants.'),
      extensions: forGranted('session'),
      resolve: granted('session'),
    }),
  }),
});

const Partner = builder.objectRef<JsonObject>('Partner').implement({
  description: 'The partner organization itself.',
  fields: (t) => ({
    raw: t.field({ ...RAW, nullable: false, resolve: (partner) => partner }),
  }),
});

type ByIdArgs = { readonly id: string } & {
  readonly [K in keyof Parents]?: string | null | undefined;
};

/** Resolves a record by its id. With parents in the arguments, it is looked up only there. */
const recordById =
  <T extends 'Organization' | 'Clinic' | 'Clinician' | 'Client'>(type: T) =>
  (_root: unknown, args: ByIdArgs, ctx: Context, info: GraphQLResolveInfo) => {
    const kind = type.toLowerCase() as Lowercase<T>;
    const { ids } = ctx;
    const id = idOf(type, 'id', args.id, ids);
    const ref = { kind, id, named: parentsOf(args, ids), open: false };
    return byId(ref as RefOf<Lowercase<T>>, wantsAttributes(info, type), ctx);
  };
type RefOf<K> = Extract<ListedRef, { readonly kind: K }>;

builder.queryType({
  description:
    'Queries. Most records have no get-by-id in the Partner API: they are looked up in lists, and only when a selected field needs it.',
  fields: (t) => ({
    viewer: t.field({
      ...required(Viewer, 'The signed-in caller: where to start without knowing an id.'),
      resolve: (_root, _args, ctx) => ctx.viewer,
    }),
    partner: t.field({
      type: Partner,
      description: 'The partner organization itself (GET /partners).',
      extensions: oneCall,
      resolve: partnerRecord,
    }),
    organizations: t.field(organizations),
    organization: t.field({
      type: Organization,
      description: 'An organization by its id.',
      args: { id: t.arg(requiredArg('ID', 'Global id or UUID of the organization.')) },
      resolve: recordById('Organization'),
    }),
    clinic: t.field({
      type: Clinic,
      description: 'A clinic by its id. With `organizationId`, it is looked up only there.',
      args: {
        id: t.arg(requiredArg('ID', 'Global id or UUID of the clinic.')),
        organizationId: t.arg.id({ description: 'The organization of the clinic.' }),
      },
      resolve: recordById('Clinic'),
    }),
    clinician: t.field({
      type: Clinician,
      description: 'A clinician by their id. With `clinicId`, they are looked up only there.',
      args: {
        id: t.arg(requiredArg('ID', 'Global id or UUID of the clinician.')),
        clinicId: t.arg.id({ description: 'The clinic of the clinician.' }),
      },
      resolve: recordById('Clinician'),
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
      resolve: recordById('Client'),
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
        const named = parentsOf({ clientId: args.clientId }, ctx.ids);
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
