/** Errors are told apart by code across rooms: a resolver need not know which class of which room it was. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
