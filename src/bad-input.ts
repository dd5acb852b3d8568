/** The request is wrong: `issues` lists why. A retry would fail again. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
  readonly code = 'BAD_USER_INPUT';
  readonly issues: readonly string[];

  constructor(...issues: readonly string[]) {
    super(issues.join('; '));
    this.issues = issues;
  }
}
