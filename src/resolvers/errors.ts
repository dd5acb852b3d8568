/** The request is wrong: `issues` lists why. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
  readonly code = 'BAD_USER_INPUT';
  readonly issues: readonly string[];

  constructor(...issues: readonly string[]) {
    super(issues.join(' '));
    this.issues = issues;
  }
}

const NOT_FOUND = 'No such record, or none that you may see.';

/**
 * The record does not exist or is not open to the viewer: the two must look the same. The message may only add what the
 * request lacks, whether or not the record exists.
 */
export class NotFound extends Error {
  override readonly name = 'NotFound';
  readonly code = 'NOT_FOUND';

  constructor(message = NOT_FOUND) {
    super(message);
  }
}

/** The look-up needs a parent that the arguments do not name. */
export const missingArgument = (argument: string): NotFound =>
  new NotFound(`${NOT_FOUND} To look it up, add ${argument}.`);
