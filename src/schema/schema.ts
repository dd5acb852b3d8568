import { getNamedType, isLeafType, isObjectType } from 'graphql';

import './records.ts';
import './events.ts';
import './session.ts';
import './query.ts';
import './event-log.ts';
import './mutations.ts';
import { builder } from './builder.ts';

/** The schema that frontends see. */
export const schema = builder.toSchema({ sortSchema: false });

// Pothos gives a resolver to each field that only returns a property of its name. Without one, graphql-jit reads the
// property itself, and builds no path and no `info` for it: W2S takes 0.9 of the CPU.
const types = Object.values(schema.getTypeMap()).filter(isObjectType);
for (const field of types.flatMap((type) => Object.values(type.getFields()))) {
  const isProperty = field.extensions['pothosExposedField'] === field.name;
  if (isProperty && isLeafType(getNamedType(field.type))) field.resolve = undefined;
}
