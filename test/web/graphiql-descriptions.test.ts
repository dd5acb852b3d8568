import {
  type GraphQLField,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';

import { schema } from '../../src/schema/schema.ts';

interface Described {
  readonly name: string;
  readonly description?: string | null | undefined;
}

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
const undescribed = (items: readonly Described[], under = '') =>
  items.filter(({ description }) => !description?.trim()).map(({ name }) => `${under}${name}`);

describe('the schema in GraphiQL', () => {
  it('describes every type', () => {
    expect(undescribed(types)).toEqual([]);
  });

  it('describes every field and every argument', () => {
    const found = types.flatMap((type) => {
      if (!isObjectType(type) && !isInterfaceType(type)) return [];
      const fields = Object.values<GraphQLField<unknown, unknown>>(type.getFields());
      const args = fields.flatMap((f) => undescribed(f.args, `${type.name}.${f.name}:`));
      return [...undescribed(fields, `${type.name}.`), ...args];
    });
    expect(found).toEqual([]);
  });

  it('describes every input field and every enum value', () => {
    const found = types.flatMap((type) => {
      if (isInputObjectType(type))
        return undescribed(Object.values(type.getFields()), `${type.name}.`);
      return isEnumType(type) ? undescribed(type.getValues(), `${type.name}.`) : [];
    });
    expect(found).toEqual([]);
  });
});
