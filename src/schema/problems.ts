import { builder } from './builder.ts';

/** What a resolver reports as data, under the name the schema gives it. */
type Missing = { readonly kind: 'missing'; readonly message?: string };
type Locked = { readonly kind: 'locked' };
type Invalid = { readonly kind: 'invalid'; readonly issues: readonly string[] };

const Problem = builder.interfaceRef<Missing | Locked | Invalid>('Problem').implement({
  description:
    'An expected failure of a mutation, as data. Unexpected ones are GraphQL errors with `extensions.code`.',
  fields: (t) => ({
    message: t.string({
      description: 'What happened, for people to read.',
      nullable: false,
      resolve: messageOf,
    }),
  }),
});

export const ProgressNoteLocked = builder.objectRef<Locked>('ProgressNoteLocked').implement({
  description: 'The note is finalized: it can no longer be changed.',
  interfaces: [Problem],
});

export const InvalidInput = builder.objectRef<Invalid>('InvalidInput').implement({
  description: 'The input can’t be used. Nothing was changed.',
  interfaces: [Problem],
  fields: (t) => ({
    issues: t.exposeStringList('issues', {
      description:
        'One string for each offending field, from the Partner API or from this gateway.',
      nullable: false,
    }),
  }),
});

export const NotFound = builder.objectRef<Missing>('NotFound').implement({
  description: 'No such record, or none that the caller may see: the two look the same.',
  interfaces: [Problem],
});

function messageOf(problem: Missing | Locked | Invalid): string {
  if (problem.kind === 'locked') return 'The progress note is locked.';
  if (problem.kind === 'missing')
    return problem.message ?? 'No such record, or none that you may see.';
  return 'The input can’t be used: "issues" says why.';
}

type OutcomeKind = 'changed' | 'assigned' | 'minted' | 'locked' | 'invalid' | 'missing';

const outcomeTypes: Readonly<Record<OutcomeKind, string>> = {
  changed: 'ProgressNoteChange',
  assigned: 'SecondaryCliniciansAssigned',
  minted: 'ClinicianTokens',
  locked: 'ProgressNoteLocked',
  invalid: 'InvalidInput',
  missing: 'NotFound',
};

/** A resolver's outcome by its kind, as the union's member. */
export const typeOfOutcome = ({ kind }: { readonly kind: OutcomeKind }): string =>
  outcomeTypes[kind];
