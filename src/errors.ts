/** Errors are distinguished by code, by clients too: a caller need not import the class that another module throws. */
export class CodedError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof CodedError && error.code === code;

export const NOT_FOUND = 'No such record, or none that you may see.';

/** Absent, or not open to the viewer: the two must look the same. The message may only add an argument that is missing. */
export class NotFound extends CodedError {
  constructor(message = NOT_FOUND) {
    super('NOT_FOUND', message);
  }

  /** The look-up needs a parent that the arguments do not name. */
  static without(argument: string): NotFound {
    return new NotFound(`${NOT_FOUND} To look it up, add ${argument}.`);
  }
}

/** The request is wrong: `issues` lists why. A retry would fail again. */
export class BadInput extends CodedError {
  readonly issues: readonly string[];

  constructor(...issues: readonly string[]) {
    super('BAD_USER_INPUT', issues.join('; '));
    this.issues = issues;
  }
}

/** The write could not be made durable, or the store can't be reached. A retry may succeed. */
export class StoreUnavailable extends CodedError {
  constructor(message: string, options?: ErrorOptions) {
    super('STORE_UNAVAILABLE', message, options);
  }
}

/** Nothing was sent, so nothing can take effect later. */
export class StoreNotReached extends StoreUnavailable {}
