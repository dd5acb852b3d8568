/** Every field that a response of the Partner API can have: a test reads those of its route. */
export interface AnyBody {
  readonly data: readonly Row[];
  readonly meta: {
    readonly totalItems: number;
    readonly totalPages: number;
    readonly itemsPerPage: number;
    readonly currentPage: number;
  };
  readonly message: string;
  readonly error: {
    readonly type: string;
    readonly message: string & Validation;
    readonly statusCode: number;
    readonly timestamp: string;
    readonly details: readonly unknown[];
  };
  readonly path: string;
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly AccessToken: string;
  readonly RefreshToken: string;
  readonly progressNoteId: string;
  readonly isLoading: boolean;
  readonly note: readonly { readonly title: string; readonly text: string }[];
  readonly transcriptItems: readonly Readonly<Record<string, unknown>>[];
  readonly problemsAddressed: readonly { readonly rationale: string; readonly level: string }[];
  readonly totalScore: number;
  readonly answers: readonly { readonly answerValue: number }[];
  readonly assigned: readonly string[];
  readonly skipped: readonly string[];
}

interface Validation {
  readonly message: readonly string[];
  readonly error: string;
  readonly statusCode: number;
}

export interface Row {
  readonly id: string;
  readonly name: string;
  readonly sessionId: string;
  readonly sessionExternalId?: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly externalId: string;
  readonly email: string;
  readonly phoneNumber: string;
  readonly dateOfBirth: string;
  readonly status: string;
  readonly isDefault: boolean;
  readonly userInstructions: string;
}
