import SchemaBuilder from '@pothos/core';

import type { Context } from '../context.ts';
import type { Uuid } from '../uuid.ts';

/** The Partner API's own JSON, passed through. */
type Json = unknown;

export const builder = new SchemaBuilder<{
  Context: Context;
  Scalars: {
    ID: { Input: string; Output: string };
    Date: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    JSON: { Input: Json; Output: Json };
    URL: { Input: string; Output: string };
    UUID: { Input: Uuid; Output: Uuid };
    EventCursor: { Input: string; Output: string };
  };
}>({});
