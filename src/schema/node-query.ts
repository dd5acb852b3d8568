import type { Context } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import { BadInput } from '../resolvers/bad-input.ts';
import { scoreById } from '../resolvers/assessment-score.ts';
import {
  assessmentById,
  listedById,
  magicEditById,
  mdmById,
  transcriptById,
} from '../resolvers/node.ts';
import { noteById, noteBySession } from '../resolvers/progress-note.ts';
import type { NodeRef } from '../resolvers/refs.ts';
import { toUuid, type Uuid } from '../uuid.ts';
import { builder } from './builder.ts';
import { callForEach, oneCall } from '../resolvers/price.ts';
import { decodeGlobalId, type NodeType } from './global-id.ts';
import { Node } from './node.ts';

const MOST_NODES = 100;

type Fetch = (parts: readonly string[], ctx: Context) => Loaded<NodeRef | null> | undefined;

/** Undefined from here means that the id is none of ours. */
const byUuid =
  (fetch: (id: Uuid, ctx: Context) => Loaded<NodeRef | null>): Fetch =>
  ([text, ...more], ctx) => {
    const id = toUuid(text);
    return id && more.length === 0 ? fetch(id, ctx) : undefined;
  };

const fetchers: Record<NodeType, Fetch> = {
  Organization: byUuid((id, ctx) => listedById('organization', id, ctx)),
  Clinic: byUuid((id, ctx) => listedById('clinic', id, ctx)),
  Program: byUuid((id, ctx) => listedById('program', id, ctx)),
  Clinician: byUuid((id, ctx) => listedById('clinician', id, ctx)),
  Client: byUuid((id, ctx) => listedById('client', id, ctx)),
  Session: byUuid((id, ctx) => listedById('session', id, ctx)),
  Transcript: byUuid(transcriptById),
  MDM: byUuid(mdmById),
  AssessmentScore: byUuid(scoreById),
  ProgressNote: (parts, ctx) =>
    parts[0] === 'session'
      ? byUuid(noteBySession)(parts.slice(1), ctx)
      : byUuid((id, context) => noteById({ id }, context))(parts, ctx),
  Assessment: ([clinic, ...rest], ctx) => {
    const clinicId = toUuid(clinic);
    const id = rest.join(':');
    return clinicId && id ? assessmentById(clinicId, id, ctx) : undefined;
  },
  MagicEdit: ([clinician, edit, ...more], ctx) => {
    const [clinicianId, id] = [toUuid(clinician), toUuid(edit)];
    return clinicianId && id && more.length === 0 ? magicEditById(clinicianId, id, ctx) : undefined;
  },
};

function nodeOf(globalId: string, ctx: Context): Loaded<NodeRef | null> {
  const { type, parts } = decodeGlobalId(globalId) ?? { type: '', parts: [] };
  const fetch = Object.hasOwn(fetchers, type) ? fetchers[type as NodeType] : undefined;
  const node = fetch?.(parts, ctx);
  if (node === undefined)
    throw new BadInput('An id must be a global id, as another answer gave it.');
  return node;
}

function nodesOf(globalIds: readonly string[], ctx: Context): Loaded<NodeRef | null>[] {
  if (globalIds.length > MOST_NODES) {
    throw new BadInput(`"ids" must be at most ${MOST_NODES}, but got ${globalIds.length}`);
  }
  return globalIds.map(async (id) => nodeOf(id, ctx));
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    description: 'A record by its global id.',
    args: { id: t.arg.id({ required: true, description: 'A global id.' }) },
    extensions: oneCall,
    resolve: (_root, { id }, ctx) => nodeOf(id, ctx),
  }),
  nodes: t.field({
    type: [Node],
    description: 'Records by their global ids, 100 at most. One that is missing leaves the others.',
    nullable: { list: false, items: true },
    args: { ids: t.arg.idList({ required: true, description: 'Global ids.' }) },
    extensions: callForEach('ids'),
    resolve: (_root, { ids }, ctx) => nodesOf(ids, ctx),
  }),
}));
