import type { NodeRef } from '../resolvers/refs.ts';
import { builder } from './builder.ts';
import { encodeGlobalId, type NodeType } from './global-id.ts';

const typeNames: Record<NodeRef['kind'], NodeType> = {
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
};

export const Node = builder.interfaceRef<NodeRef>('Node').implement({
  description: `Anything that can be fetched again by its global id.
Every argument of type ID that names a record takes the global id or the bare UUID; \`node\` and \`nodes\` take global ids only.`,
  resolveType: (node) => typeNames[node.kind],
  fields: (t) => ({
    id: t.id({
      description: 'Opaque, and the same whichever way the record was reached.',
      nullable: false,
      resolve: globalIdOf,
    }),
  }),
});

export function globalIdOf(node: NodeRef): string {
  switch (node.kind) {
    case 'note':
      return node.record.id
        ? encodeGlobalId('ProgressNote', node.record.id)
        : encodeGlobalId('ProgressNote', 'session', node.sessionId ?? '');
    case 'transcript':
      return encodeGlobalId('Transcript', node.session.id);
    case 'mdm':
      return encodeGlobalId('MDM', node.session.id);
    case 'assessment':
      return encodeGlobalId('Assessment', node.clinicId, node.id);
    case 'magic-edit':
      return encodeGlobalId('MagicEdit', node.clinicianId, node.id);
    default:
      return encodeGlobalId(typeNames[node.kind], node.id);
  }
}
