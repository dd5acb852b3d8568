import type { Outcome, Rejected } from '../../resolvers/mutations/write.ts';
import { builder, required } from '../builder.ts';

type RejectedAs<K> = Extract<Rejected, { readonly kind: K }>;

const Problem = builder.interfaceRef<Rejected>('Problem').implement({
  description:
    'An expected failure of a mutation, as data. Unexpected failures are GraphQL errors with `extensions.code`.',
  fields: (t) => ({
    message: t.field({
      ...required('String', 'What went wrong, for people to read.'),
      resolve: messageOf,
    }),
  }),
});

export const ProgressNoteLocked = builder
  .objectRef<RejectedAs<'locked'>>('ProgressNoteLocked')
  .implement({
    description: 'The note is finalized and can no longer be changed.',
    interfaces: [Problem],
  });

export const InvalidInput = builder.objectRef<RejectedAs<'invalid'>>('InvalidInput').implement({
  description: 'The input is invalid. Nothing was changed.',
  interfaces: [Problem],
  fields: (t) => ({
    issues: t.exposeStringList('issues', {
      description: 'One string for each invalid field, from the Partner API or from this gateway.',
      nullable: false,
    }),
  }),
});

export const NotFound = builder.objectRef<RejectedAs<'missing'>>('NotFound').implement({
  description: 'The record does not exist or is not open to you: the two look the same.',
  interfaces: [Problem],
});

function messageOf(problem: Rejected): string {
  if (problem.kind === 'locked') return 'The progress note is locked.';
  if (problem.kind === 'missing')
    return problem.message ?? 'No such record, or none that you may see.';
  return 'The input is invalid: see "issues".';
}

const outcomeTypes: Readonly<Record<Outcome['kind'], string>> = {
  changed: 'ProgressNoteChange',
  assigned: 'SecondaryCliniciansAssigned',
  minted: 'ClinicianTokens',
  locked: 'ProgressNoteLocked',
  invalid: 'InvalidInput',
  missing: 'NotFound',
};

/** The union member for a resolver's outcome. */
export const resolveType = ({ kind }: Outcome): string => outcomeTypes[kind];
