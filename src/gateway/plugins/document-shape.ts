import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** How large an operation is once its fragments are written out. */
export interface Shape {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  readonly rootFields: number;
}

export type ShapeLimits = Shape;

const NOTHING: Shape = { depth: 0, aliases: 0, directives: 0, rootFields: 0 };

/** `ofType` unwraps a type by one layer and leads nowhere else, so it adds no depth: IDEs ask for nine in a row. */
const UNWRAPS = 'ofType';

/** Why the document is too large, if it is. Fragments that spread themselves are refused here too. */
export function shapeProblem(document: DocumentNode, limits: ShapeLimits): string | undefined {
  const measure = createMeasure(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const shape = measure(definition);
    if (!shape) return 'Fragments must not spread themselves.';
    const problem = overLimit(shape, limits);
    if (problem) return problem;
  }
  return undefined;
}

function overLimit(shape: Shape, limits: ShapeLimits): string | undefined {
  if (shape.depth > limits.depth) return tooMany('levels deep', limits.depth);
  if (shape.aliases > limits.aliases) return tooMany('aliases', limits.aliases);
  if (shape.rootFields > limits.rootFields) return tooMany('root fields', limits.rootFields);
  if (shape.directives > limits.directives) return tooMany('directives', limits.directives);
  return undefined;
}

const tooMany = (what: string, limit: number) =>
  `An operation may have at most ${limit} ${what}, and this one has more.`;

/** Each fragment is measured once, however often it is spread: writing them out could take for ever. */
function createMeasure(document: DocumentNode) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  const measured = new Map<string, Shape | 'measuring'>();

  function ofFragment(name: string): Shape | undefined {
    const known = measured.get(name);
    if (known) return known === 'measuring' ? undefined : known;
    const fragment = fragments.get(name);
    if (!fragment) return NOTHING;
    measured.set(name, 'measuring');
    const shape = ofSelections(fragment.selectionSet, fragment.directives?.length ?? 0);
    if (shape) measured.set(name, shape);
    return shape;
  }

  function ofSelections(set: SelectionSetNode | undefined, own: number): Shape | undefined {
    let { depth, aliases, directives, rootFields } = { ...NOTHING, directives: own };
    for (const selection of set?.selections ?? []) {
      const count = selection.directives?.length ?? 0;
      const isField = selection.kind === Kind.FIELD;
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : ofSelections(selection.selectionSet, 0);
      if (!inner) return undefined;
      const step = isField && selection.name.value !== UNWRAPS ? 1 : 0;
      depth = Math.max(depth, inner.depth + step);
      aliases += inner.aliases + (isField && selection.alias ? 1 : 0);
      directives += inner.directives + count;
      rootFields += isField ? 1 : inner.rootFields;
    }
    return { depth, aliases, directives, rootFields };
  }

  return (operation: OperationDefinitionNode) =>
    ofSelections(operation.selectionSet, operation.directives?.length ?? 0);
}
