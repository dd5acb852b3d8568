/** An error of the application behind the API's gateway: sent as a PartnerApiError envelope. */
export class PartnerApiFailure extends Error {
  readonly statusCode: number;
  readonly type: string;
  /** Set if validation failed. Then `error.message` of the envelope is an object; otherwise it is a string. */
  readonly issues: readonly string[] | undefined;

  constructor(statusCode: number, type: string, message: string, issues?: readonly string[]) {
    super(message);
    this.statusCode = statusCode;
    this.type = type;
    this.issues = issues;
  }
}

export const invalid = (...issues: readonly string[]) =>
  new PartnerApiFailure(400, 'BadRequestException', 'Bad Request', issues);
export const notFound = (noun: string) =>
  new PartnerApiFailure(404, 'NotFoundException', `${noun} not found`);

export function envelopeOf(failure: PartnerApiFailure, path: string) {
  const { statusCode, type, issues, message } = failure;
  return {
    error: {
      type,
      message: issues ? { message: issues, error: message, statusCode } : message,
      statusCode,
      timestamp: new Date().toISOString(),
      details: [],
    },
    // The real API also shows an internal path, which clients must not depend on.
    path: `/partner-api${path}`,
  };
}
