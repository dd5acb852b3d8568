import type { GraphQLResolveInfo } from 'graphql';

import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { assessmentById, magicEditById, scoreById } from '../../resolvers/assessment.ts';
import { BadInput } from '../../resolvers/errors.ts';
import { byId } from '../../resolvers/lookup/by-id.ts';
import { find } from '../../resolvers/lookup/find.ts';
import { callForEach, oneCall } from '../../resolvers/price.ts';
import { noteByName } from '../../resolvers/progress-note.ts';
import type { NodeRef, SessionRef } from '../../resolvers/refs.ts';
import { mdmById, transcriptById } from '../../resolvers/session.ts';
import { builder, requiredArg } from '../builder.ts';
import type { NodeType } from '../global-id.ts';
import { wantsAttributes } from '../selections.ts';

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
  description: `A record that can be fetched again by its global id.
Every argument of type ID that names a record takes the global id or the bare UUID; \`node\` and \`nodes\` take global ids only.`,
  resolveType: (node) => typeNames[node.kind],
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
  const { ids } = ctx;
  switch (node.kind) {
    case 'session':
      return idWithSession('Session', node, ctx);
    case 'note':
      if (node.session) return idWithSession('ProgressNote', node.session, ctx);
      // Requested by its bare UUID, which is therefore known. The session named in a note's body is not proof.
      return ids.encode({ type: 'ProgressNote', noteId: node.record.id as never });
    case 'transcript':
      return idWithSession('Transcript', node.session, ctx);
    case 'mdm':
      return idWithSession('MDM', node.session, ctx);
    case 'score':
      return ids.encode({ type: 'AssessmentScore', id: node.id, clientId: node.clientId });
    case 'assessment':
      return ids.encode({ type: 'Assessment', clinicId: node.clinicId, id: node.id });
    case 'magic-edit':
      return ids.encode({ type: 'MagicEdit', clinicianId: node.clinicianId, id: node.id });
    default:
      return ids.encode({ type: typeNames[node.kind], id: node.id });
  }
}

/** The id of a session, or of what was generated from it: with the session's client where that is proven. */
function idWithSession(
  type: 'Session' | 'ProgressNote' | 'Transcript' | 'MDM',
  session: SessionRef,
  ctx: Context,
): Loaded<string> {
  const encode = (clientId: SessionRef['clientId']) =>
    ctx.ids.encode(
      type === 'Session'
        ? { type, id: session.id, clientId }
        : { type, sessionId: session.id, clientId },
    );
  // A viewer whose grant names the session may not know its client.
  if (ctx.reach.holds('session', session.id)) return encode(undefined);
  if (session.clientId) return signedOnce(type, session, () => encode(session.clientId));
  // A client that an argument names goes into the id once a list has confirmed it.
  if (!session.named?.clientId) return encode(undefined);
  return whenLoaded(find(session, ctx), (found) => encode(found?.list.id));
}

/** Rows of a cached page are shared by all operations, so each row is signed once. */
function signedOnce(type: NodeType, session: SessionRef, sign: () => string): string {
  const signed = session.globalIds?.get(type);
  if (signed) return signed;
  const id = sign();
  (session.globalIds ??= new Map()).set(type, id);
  return id;
}

const MAX_NODES = 100;

function nodeOf(globalId: string, ctx: Context, info: GraphQLResolveInfo): Loaded<NodeRef | null> {
  const node = ctx.ids.decode(globalId);
  if (!node) throw new BadInput('Expected a global id from an earlier response.');
  const wanted = wantsAttributes(info, node.type);
  switch (node.type) {
    case 'Session':
      return byId(sessionRef(node.id, node.clientId), wanted, ctx);
    case 'ProgressNote':
      return noteByName(node, {}, ctx);
    case 'Transcript':
      return transcriptById(sessionRef(node.sessionId, node.clientId), ctx);
    case 'MDM':
      return mdmById(sessionRef(node.sessionId, node.clientId), ctx);
    case 'AssessmentScore':
      return scoreById(node, ctx);
    case 'Assessment':
      return assessmentById(node, wanted, ctx);
    case 'MagicEdit':
      return magicEditById(node, wanted, ctx);
    default:
      return byId({ kind: kindOf(node.type), id: node.id, open: false }, wanted, ctx);
  }
}

const kindOf = <T extends string>(type: T) => type.toLowerCase() as Lowercase<T>;

const sessionRef = (id: SessionRef['id'], clientId: SessionRef['clientId']): SessionRef => ({
  kind: 'session',
  id,
  clientId,
  open: false,
});

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    description: 'A record by its global id. Null if it does not exist or is not open to you.',
    args: { id: t.arg(requiredArg('ID', 'Global id of the record.')) },
    extensions: oneCall,
    resolve: (_root, { id }, ctx, info) => nodeOf(id, ctx, info),
  }),
  nodes: t.field({
    type: [Node],
    description:
      'Records by their global ids, in the same order. Null for each record that does not exist or is not open to you.',
    nullable: { list: false, items: true },
    args: { ids: t.arg.idList({ required: true, description: 'Global ids, 100 at most.' }) },
    extensions: callForEach('ids'),
    resolve: (_root, { ids }, ctx, info) => {
      if (ids.length > MAX_NODES) {
        throw new BadInput(`"ids" must have at most ${MAX_NODES} items, but got ${ids.length}`);
      }
      // Async, so that one bad id fails alone.
      return ids.map(async (id) => nodeOf(id, ctx, info));
    },
  }),
}));
