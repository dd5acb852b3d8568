/** Errors are distinguished by code, so that a caller need not import the class that another module throws. */
export abstract class CodedError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof CodedError && error.code === code;

/** A failure with a message for clients to read, and the code that they branch on. */
export class OperationError extends CodedError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The response of an operation is too large. Every field that is still to be resolved may fail with it. */
export class ResponseTooLarge extends OperationError {}

export const NOT_FOUND = 'No such record, or none that you may see.';

/** Absent, or not open to the viewer: the two must look the same. The message may only add an argument that is missing. */
export class NotFound extends OperationError {
  constructor(message = NOT_FOUND) {
    super('NOT_FOUND', message);
  }
}

/** The look-up needs a parent that the arguments do not name. */
export const missingArgument = (argument: string): NotFound =>
  new NotFound(`${NOT_FOUND} To look it up, add ${argument}.`);

/** The request is wrong: `issues` lists why. A retry would fail again. */
export class BadInput extends CodedError {
  readonly code = 'BAD_USER_INPUT';
  readonly issues: readonly string[];

  constructor(...issues: readonly string[]) {
    super(issues.join('; '));
    this.issues = issues;
  }
}

/** The write could not be made durable, or the store can't be reached. A retry may succeed. */
export class StoreUnavailable extends CodedError {
  readonly code = 'STORE_UNAVAILABLE';
}

/** Nothing was sent, so nothing can take effect later. */
export class StoreNotReached extends StoreUnavailable {}
