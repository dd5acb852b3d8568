/** Errors are distinguished by code, so that a caller need not import the class that another module throws. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
