import type { GraphQLResolveInfo } from 'graphql';

import type { WindowArgs } from '../connection/window.ts';
import type { Context } from '../context.ts';
import { BadInput, NotFound } from '../errors.ts';
import { mdms, noteById, scoreById, transcripts } from '../resolvers/artifacts.ts';
import { byId, granted, organizationsOfViewer } from '../resolvers/records.ts';
import { type ListedRef, type NodeOfType, kindOf } from '../resolvers/refs.ts';
import { recordEndpoints } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import type { GrantedKind } from '../viewer/viewer.ts';
import { RAW, builder, objectType, required } from './builder.ts';
import { windowArgs } from './connection.ts';
import type { NodeId, ParentName } from './global-id.ts';
import { noteTargetOf, parseId, parseParentIds, sessionIn } from './global-id.ts';
import { connectionNeed, wantsAttributes } from './selections.ts';

/** Options of `organizations`, in the viewer and at the root. */
const organizations = {
  type: 'OrganizationConnection',
  description: 'The organizations named in the caller’s grants; all of them for `partner`.',
  args: windowArgs,
  resolve: (_parent: unknown, args: WindowArgs, ctx: Context, info: GraphQLResolveInfo) =>
    organizationsOfViewer(args, connectionNeed(info, ctx), ctx),
} as const;

/** Options of a field with the records of a type that the caller's grants name. */
const grantedRecords = <T extends Capitalize<GrantedKind>>(type: T, description: string) => ({
  ...required([type] as [T], description),
  extensions: { granted: kindOf(type) },
  resolve: (_viewer: unknown, _args: unknown, ctx: Context) => granted(type, ctx) as never,
});

objectType(
  'Viewer',
  'The signed-in caller, and the records that the caller’s grants name.',
  () => ({
    subject: required('String', 'The subject of the caller’s token.'),
    grants: required(
      ['String'],
      'The caller’s grants: `partner`, or `organization:`, `clinic:`, `clinician:`, `client:` or `session:` and a UUID.',
    ),
    organizations,
    clinics: grantedRecords('Clinic', 'The clinics named in the caller’s grants.'),
    clinicians: grantedRecords(
      'Clinician',
      'The clinicians named in the caller’s grants: for most frontends, the one who is signed in.',
    ),
    clients: grantedRecords('Client', 'The clients named in the caller’s grants.'),
    sessions: grantedRecords('Session', 'The sessions named in the caller’s grants.'),
  }),
);

objectType('Partner', 'The partner organization itself.', () => ({
  raw: { ...RAW, nullable: false, resolve: (partner: object) => partner },
}));

/** The id of a record, and the parents that may be named with it. */
const idArgs = (noun: string, ...parents: readonly ParentName[]) =>
  builder.args((t) => {
    const id = t.id({ required: true, description: `Global id or UUID of the ${noun}.` });
    const args: { id: typeof id } & { [P in ParentName]?: ReturnType<typeof t.id<false>> } = { id };
    for (const name of parents)
      args[name] = t.id({ description: `The ${name.slice(0, -'Id'.length)} of the ${noun}.` });
    return args;
  });

type ByIdArgs = { readonly id: string } & Parameters<typeof parseParentIds>[0];

/** Options of a field that returns a record by its id. With parents in the arguments, it is looked up only there. */
const recordById = <T extends Capitalize<GrantedKind>>(type: T, ...parents: ParentName[]) => ({
  type,
  args: idArgs(kindOf(type), ...parents),
  resolve: (_root: unknown, args: ByIdArgs, ctx: Context, info: GraphQLResolveInfo) => {
    const record = parseId(type, 'id', args.id, ctx.ids);
    const namedParents = parseParentIds(args, ctx.ids);
    // A session's id includes the client in the arguments, once a list has confirmed it.
    const isIdCompleted = namedParents.clientId !== undefined && record.clientId === undefined;
    const ref = { ...record, type, namedParents } as unknown as NodeOfType<T>;
    return byId(ref, wantsAttributes(info, type, ctx, isIdCompleted), ctx);
  },
});

const MAX_NODES = 100;

function nodeById(node: NodeId, ctx: Context, info: GraphQLResolveInfo) {
  const { type, id, clientId } = node;
  const session = sessionIn(node);
  if (type === 'ProgressNote') return noteById({ noteId: id as Uuid | undefined, session }, ctx);
  if (type === 'Transcript') return transcripts.byId(session!, ctx);
  if (type === 'MDM') return mdms.byId(session!, ctx);
  if (type === 'AssessmentScore') return scoreById({ id: id as Uuid, clientId }, ctx);
  return byId(node as ListedRef, wantsAttributes(info, type, ctx), ctx);
}

builder.queryType({
  description:
    'Queries. Most records have no get-by-id in the Partner API: they are looked up in lists, and only when a selected field needs it.',
  fields: (t) => ({
    node: t.field({
      type: 'Node',
      description: 'A record by its global id. Null if it does not exist or is not open to you.',
      args: { id: t.arg(required('ID', 'Global id of the record.')) },
      resolve: (_root, { id }, ctx, info) => {
        const node = ctx.ids.decode(id);
        if (!node) throw new BadInput('"id" must be a global id from an earlier response.');
        return nodeById(node, ctx, info);
      },
    }),
    nodes: t.field({
      type: ['Node'],
      description:
        'Records by their global ids, in the same order. Null for each record that does not exist or is not open to you.',
      nullable: { list: false, items: true },
      args: { ids: t.arg.idList({ required: true, description: 'Global ids, 100 at most.' }) },
      resolve: (_root, { ids }, ctx, info) => {
        if (ids.length > MAX_NODES)
          throw new BadInput(`"ids" must have at most ${MAX_NODES} items, but got ${ids.length}`);
        const nodes = ids.map((id) => ctx.ids.decode(id));
        // One error for all invalid ids: with aliases there could be thousands, which would take a second.
        const invalid = [...nodes.keys()].filter((index) => !nodes[index]);
        return nodes.map(async (node, index) => {
          if (node) return nodeById(node, ctx, info);
          if (index !== invalid[0]) return null;
          throw new BadInput(
            `"ids" must be global ids from earlier responses; not valid: items ${invalid.join(', ')}.`,
          );
        });
      },
    }),
    viewer: t.field({
      ...required('Viewer', 'The signed-in caller: where to start without knowing an id.'),
      resolve: (_root, _args, ctx) => ctx.viewer,
    }),
    partner: t.field({
      type: 'Partner',
      description: 'The partner organization itself. Needs the grant `partner`.',
      resolve: (_root, _args, ctx) => {
        if (!ctx.reach.isPartner) throw new NotFound();
        return ctx.loaders.record(recordEndpoints.partner);
      },
    }),
    organizations: t.field(organizations),
    organization: t.field({
      ...recordById('Organization'),
      description: 'An organization by its id.',
    }),
    clinic: t.field({
      ...recordById('Clinic', 'organizationId'),
      description: 'A clinic by its id. With `organizationId`, it is looked up only there.',
    }),
    clinician: t.field({
      ...recordById('Clinician', 'clinicId'),
      description: 'A clinician by their id. With `clinicId`, they are looked up only there.',
    }),
    client: t.field({
      ...recordById('Client', 'clinicId', 'clinicianId'),
      description:
        'A client by their id. With `clinicId` or `clinicianId`, they are looked up only there.',
    }),
    session: t.field({
      ...recordById('Session', 'clientId'),
      description:
        'A session by its id. With `clientId`, it is looked up only there. A bare UUID needs `clientId`, unless a grant is `partner` or names the session: then only `sessionExternalId`, `fileUrl`, `raw` and `client` may need it.',
    }),
    progressNote: t.field({
      type: 'ProgressNote',
      description:
        'A progress note by its id. A bare UUID needs `sessionId` and `clientId`, so that access can be proven; `partner` needs neither.',
      args: idArgs('note', 'sessionId', 'clientId'),
      resolve: (_root, args, ctx) => noteById(noteTargetOf('id', args.id, args, ctx.ids), ctx),
    }),
    assessmentScore: t.field({
      type: 'AssessmentScore',
      description:
        'An assessment score by its id. A bare UUID works for `partner` only, because it does not say which client the score belongs to.',
      args: idArgs('score'),
      resolve: (_root, { id }, ctx) =>
        scoreById(parseId('AssessmentScore', 'id', id, ctx.ids), ctx),
    }),
  }),
});
