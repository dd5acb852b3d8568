import { isUtf8 } from 'node:buffer';

/** A body that is no JSON. */
export const notJson: unique symbol = Symbol('not JSON');

export function jsonOf(body: Buffer, contentType: string): unknown {
  // What somebody in between has to say comes as a page.
  if (/html/i.test(contentType) || !isUtf8(body)) return notJson;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return notJson;
  }
}
