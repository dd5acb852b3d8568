import type { GraphQLResolveInfo } from 'graphql';

import { type Context, SIGNED_BYTES } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { mdms, noteById, scoreById, transcripts } from '../../resolvers/artifacts.ts';
import { BadInput } from '../../errors.ts';
import { find } from '../../resolvers/access/prove.ts';
import { byId } from '../../resolvers/records.ts';
import type { ListedRef, NodeRef, NodeType, SessionRef } from '../../resolvers/refs.ts';
import type { Uuid } from '../../uuid.ts';
import { builder, optional, required } from '../builder.ts';
import { type NodeId, sessionIn } from '../global-id.ts';
import { wantsAttributes } from '../selections.ts';

builder.interfaceType('Node', {
  description: `A record that can be fetched again by its global id.
Every argument of type ID that names a record takes the global id or the bare UUID; \`node\` and \`nodes\` take global ids only.`,
  resolveType: (node) => node.type,
  fields: (t) => ({
    id: t.id({
      description:
        'Global id: opaque, and the same wherever the record appears, as long as its parents are known.',
      nullable: false,
      resolve: globalIdOf,
    }),
  }),
});

function globalIdOf(node: NodeRef, _args: unknown, ctx: Context): Loaded<string> {
  ctx.responseSize.add(SIGNED_BYTES);
  if (node.type === 'Session') return idWithSession('Session', node, ctx);
  if (node.type === 'ProgressNote' && !node.session) {
    // It was requested by its bare UUID, which is therefore known. The session named in a note's body is not proof.
    return ctx.ids.encode({ type: 'ProgressNote', id: node.record.id! });
  }
  return 'session' in node ? idWithSession(node.type, node.session!, ctx) : ctx.ids.encode(node);
}

/** The id of a session or of its note, transcript or MDM, including the session's client if that is proven. */
function idWithSession(type: NodeType, session: SessionRef, ctx: Context): Loaded<string> {
  const { id } = session;
  // A viewer whose grant names the session may not know its client.
  if (ctx.reach.holds('session', id)) return encode(type, id, undefined, ctx);
  // Rows of a cached page are shared by all operations, so each row is signed once.
  if (session.clientId) {
    return ((session.globalIds ??= {})[type] ??= encode(type, id, session.clientId, ctx));
  }
  // A client that an argument names goes into the id once a list has confirmed it.
  const confirmed = session.namedParents?.clientId ? find(session, ctx) : undefined;
  return whenLoaded(confirmed, (found) => encode(type, id, found?.clientId, ctx));
}

const encode = (type: NodeType, id: Uuid, clientId: Uuid | undefined, { ids }: Context) =>
  ids.encode({ type, id, sessionId: id, clientId });

const MAX_NODES = 100;

function nodeById(node: NodeId, ctx: Context, info: GraphQLResolveInfo): Loaded<NodeRef | null> {
  switch (node.type) {
    case 'ProgressNote':
      return noteById({ noteId: node.id as Uuid | undefined, session: sessionIn(node) }, ctx);
    case 'Transcript':
      return transcripts.byId(sessionIn(node)!, ctx);
    case 'MDM':
      return mdms.byId(sessionIn(node)!, ctx);
    case 'AssessmentScore':
      return scoreById(node as NodeId & { readonly id: Uuid }, ctx);
    default:
      return byId(node as ListedRef, wantsAttributes(info, node.type, ctx), ctx);
  }
}

builder.queryFields((t) => ({
  node: t.field({
    ...optional(
      'Node',
      'A record by its global id. Null if it does not exist or is not open to you.',
    ),
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
      if (ids.length > MAX_NODES) {
        throw new BadInput(`"ids" must have at most ${MAX_NODES} items, but got ${ids.length}`);
      }
      const nodes = ids.map((id) => ctx.ids.decode(id));
      // One error for all invalid ids: thousands, with aliases, would take a second.
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
}));
