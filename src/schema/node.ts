import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import { find } from '../resolvers/lookup/find.ts';
import type { NodeRef, SessionRef } from '../resolvers/refs.ts';
import { builder } from './builder.ts';
import type { NodeType } from './global-id.ts';

const typeNames = {
  organization: 'Organization',
  clinic: 'Clinic',
  program: 'Program',
  clinician: 'Clinician',
  client: 'Client',
  session: 'Session',
  assessment: 'Assessment',
  'magic-edit': 'MagicEdit',
  note: 'ProgressNote',
  transcript: 'Transcript',
  mdm: 'MDM',
  score: 'AssessmentScore',
} as const satisfies Record<NodeRef['kind'], NodeType>;

export const Node = builder.interfaceRef<NodeRef>('Node').implement({
  description: `Anything that can be fetched again by its global id.
Every argument of type ID that names a record takes the global id or the bare UUID; \`node\` and \`nodes\` take global ids only.`,
  resolveType: (node) => typeNames[node.kind],
  fields: (t) => ({
    id: t.id({
      description:
        'Opaque, and the same whichever way the record was reached, once its parents are known.',
      nullable: false,
      resolve: (node, _args, ctx) => globalIdOf(node, ctx),
    }),
  }),
});

function globalIdOf(node: NodeRef, ctx: Context): Loaded<string> {
  switch (node.kind) {
    case 'session':
      return withClient(node, ctx, (clientId) =>
        signedOnce('Session', node, () =>
          ctx.ids.encode({ type: 'Session', id: node.id, clientId }),
        ),
      );
    case 'note':
      if (!node.session) return idOfBareNote(node.record, ctx);
      return artifactId('ProgressNote', node.session, ctx);
    case 'transcript':
      return artifactId('Transcript', node.session, ctx);
    case 'mdm':
      return artifactId('MDM', node.session, ctx);
    case 'score':
      return ctx.ids.encode({ type: 'AssessmentScore', id: node.id, clientId: node.clientId });
    case 'assessment':
      return ctx.ids.encode({ type: 'Assessment', clinicId: node.clinicId, id: node.id });
    case 'magic-edit':
      return ctx.ids.encode({ type: 'MagicEdit', clinicianId: node.clinicianId, id: node.id });
    default:
      return ctx.ids.encode({ type: typeNames[node.kind], id: node.id });
  }
}

/** The session that a note's own body names is no proof: the id holds what the `partner` asked with. */
const idOfBareNote = ({ id }: { readonly id: string | null }, ctx: Context): string =>
  ctx.ids.encode({ type: 'ProgressNote', noteId: id as never });

const artifactId = (
  type: 'ProgressNote' | 'Transcript' | 'MDM',
  session: SessionRef,
  ctx: Context,
): Loaded<string> =>
  withClient(session, ctx, (clientId) =>
    signedOnce(type, session, () => ctx.ids.encode({ type, sessionId: session.id, clientId })),
  );

/**
 * The client that goes into the id: never for a viewer whose grant names the session, who may not know it; and one that an
 * argument names only once a list has confirmed it.
 */
function withClient(
  session: SessionRef,
  ctx: Context,
  encode: (clientId: SessionRef['clientId']) => string,
): Loaded<string> {
  const { id, clientId, named } = session;
  if (ctx.reach.holds('session', id)) return encode(undefined);
  if (clientId || !named?.clientId) return encode(clientId);
  return whenLoaded(find(session, ctx), (found) => encode(found?.list.id));
}

/** Rows of a cached page are shared: each is signed once. Short ids are not kept, since they differ by viewer. */
function signedOnce(type: NodeType, session: SessionRef, sign: () => string): string {
  if (!session.clientId) return sign();
  const known = session.globalIds?.get(type);
  if (known) return known;
  const id = sign();
  (session.globalIds ??= new Map()).set(type, id);
  return id;
}
