import {
  type FieldNode,
  type GraphQLResolveInfo,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import { type Fragment, isIncluded } from './cost/gathered-fields.ts';

type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'variableValues'>;

/** Fields that come from the record's row in a list. Its id, its lists and the links to its parents need no look-up. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'name',
  'raw',
  'firstName',
  'lastName',
  'email',
  'externalId',
  'phoneNumber',
  'dateOfBirth',
  'status',
  'sessionExternalId',
  'fileUrl',
]);

/** Whether the selection on this type needs the record's attributes. If so, the record is looked up first. */
export const wantsAttributes = (info: Info, type: string): boolean =>
  selects(info, type, (name) => ATTRIBUTES.has(name));

/** The same, for an `id` that will include the parent named in the arguments, once a list has confirmed it. */
export const wantsAttributesOrId = (info: Info, type: string): boolean =>
  selects(info, type, (name) => name === 'id' || ATTRIBUTES.has(name));

function selects(info: Info, type: string, isWanted: (field: string) => boolean): boolean {
  const seen = new Set<string>();

  const inSet = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((selection) => isIncluded(selection, info) && inSelection(selection)) ??
    false;

  const inSelection = (selection: SelectionNode): boolean => {
    if (selection.kind === Kind.FIELD) return isWanted(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return inFragment(selection);
    if (seen.has(selection.name.value)) return false;
    seen.add(selection.name.value);
    const fragment = info.fragments[selection.name.value];
    return fragment !== undefined && inFragment(fragment);
  };

  const inFragment = ({ typeCondition, selectionSet }: Fragment): boolean => {
    const condition = typeCondition?.name.value;
    const applies = condition === undefined || condition === type || condition === 'Node';
    return applies && inSet(selectionSet);
  };

  return info.fieldNodes.some(({ selectionSet }: FieldNode) => inSet(selectionSet));
}
