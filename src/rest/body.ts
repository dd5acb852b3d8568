import { isUtf8 } from 'node:buffer';

import { isNestedTooDeep } from '../nesting.ts';

/** A body that is no JSON. */
export const notJson: unique symbol = Symbol('not JSON');

export function jsonOf(body: Buffer, contentType: string): unknown {
  // What somebody in between has to say comes as a page.
  if (/html/i.test(contentType) || !isUtf8(body)) return notJson;
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return isNestedTooDeep(json) ? notJson : json;
  } catch {
    return notJson;
  }
}
