/** The arguments of a connection can't mean anything: nothing was read, and asking again won't help. */
export class BadWindow extends Error {
  readonly code = 'BAD_USER_INPUT';
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(issues.join('; '));
    this.name = 'BadWindow';
    this.issues = issues;
  }
}
