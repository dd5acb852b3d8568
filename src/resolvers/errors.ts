import { OperationError } from '../errors.ts';

const NOT_FOUND = 'No such record, or none that you may see.';

/**
 * The record does not exist or is not open to the viewer: the two must look the same. The message may only add an
 * argument that the request lacks.
 */
export class NotFound extends OperationError {
  constructor(message = NOT_FOUND) {
    super('NOT_FOUND', message);
  }
}

/** The look-up needs a parent that the arguments do not name. */
export const missingArgument = (argument: string): NotFound =>
  new NotFound(`${NOT_FOUND} To look it up, add ${argument}.`);
