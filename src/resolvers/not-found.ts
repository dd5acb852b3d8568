const MESSAGE = 'No such record, or none that you may see.';

/**
 * Not there, or not the viewer's: the two must look the same. What may be said beside that is what the request lacks,
 * whether or not the record exists.
 */
export class NotFound extends Error {
  override readonly name = 'NotFound';
  readonly code = 'NOT_FOUND';

  constructor(message = MESSAGE) {
    super(message);
  }
}

/** A parent has to be named: without it the record is looked for nowhere. */
export const missingArgument = (argument: string): NotFound =>
  new NotFound(`${MESSAGE} To look it up, add ${argument}.`);
