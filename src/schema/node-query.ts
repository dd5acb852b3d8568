import type { GraphQLResolveInfo } from 'graphql';

import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import { assessmentById } from '../resolvers/assessment.ts';
import { scoreById } from '../resolvers/assessment-score.ts';
import { BadInput } from '../resolvers/bad-input.ts';
import { byId } from '../resolvers/lookup/by-id.ts';
import { magicEditById } from '../resolvers/magic-edit-record.ts';
import { callForEach, oneCall } from '../resolvers/price.ts';
import { noteByName } from '../resolvers/progress-note.ts';
import type { NodeRef, SessionRef } from '../resolvers/refs.ts';
import { mdmById, transcriptById } from '../resolvers/session.ts';
import { builder } from './builder.ts';
import { wantsAttributes } from './look-ahead.ts';
import { Node } from './node.ts';

const MAX_NODES = 100;

const KINDS = {
  Organization: 'organization',
  Clinic: 'clinic',
  Program: 'program',
  Clinician: 'clinician',
  Client: 'client',
} as const;

function nodeOf(globalId: string, ctx: Context, info: GraphQLResolveInfo): Loaded<NodeRef | null> {
  const node = ctx.ids.decode(globalId);
  if (!node) throw new BadInput('An id must be a global id, as another answer gave it.');
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
      return byId({ kind: KINDS[node.type], id: node.id, open: false }, wanted, ctx);
  }
}

const sessionRef = (id: SessionRef['id'], clientId: SessionRef['clientId']): SessionRef => ({
  kind: 'session',
  id,
  clientId,
  open: false,
});

function nodesOf(globalIds: readonly string[], ctx: Context, info: GraphQLResolveInfo) {
  if (globalIds.length > MAX_NODES) {
    throw new BadInput(`"ids" must be at most ${MAX_NODES}, but got ${globalIds.length}`);
  }
  return globalIds.map(async (id) => nodeOf(id, ctx, info));
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    description: 'A record by its global id.',
    args: { id: t.arg.id({ required: true, description: 'A global id.' }) },
    extensions: oneCall,
    resolve: (_root, { id }, ctx, info) => nodeOf(id, ctx, info),
  }),
  nodes: t.field({
    type: [Node],
    description: 'Records by their global ids, 100 at most. One that is missing leaves the others.',
    nullable: { list: false, items: true },
    args: { ids: t.arg.idList({ required: true, description: 'Global ids.' }) },
    extensions: callForEach('ids'),
    resolve: (_root, { ids }, ctx, info) => nodesOf(ids, ctx, info),
  }),
}));
