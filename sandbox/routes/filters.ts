import { CLIENT_STATUSES, type ClientRecord, type ClinicianRecord } from '../data/records.ts';
import { invalid, PartnerApiFailure } from '../http/errors.ts';

type Filter<T> = (record: T) => boolean;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const RULES = {
  id: { isValid: (text: string) => UUID.test(text), message: 'must be a UUID' },
  clinicianId: { isValid: (text: string) => UUID.test(text), message: 'must be a UUID' },
  status: {
    isValid: (text: string) => CLIENT_STATUSES.includes(text),
    message: `must be one of ${CLIENT_STATUSES.join(', ')}`,
  },
  dateOfBirth: { isValid: isDate, message: 'must be a valid ISO 8601 date string' },
  defaultOnly: {
    isValid: (text: string) => text === 'true' || text === 'false',
    message: 'must be a boolean value',
  },
};

function validate(query: URLSearchParams, ...fields: readonly (keyof typeof RULES)[]): void {
  const issues = fields.flatMap((field) => {
    const { isValid, message } = RULES[field];
    const value = query.get(field);
    return value === null || isValid(value) ? [] : [`${field} ${message}`];
  });
  if (issues.length > 0) throw invalid(...issues);
}

/** Undefined without a filter, so that an unfiltered list renders only the rows of its page. */
export function clientFilter(query: URLSearchParams): Filter<ClientRecord> | undefined {
  const phoneNumber = query.get('phoneNumber');
  if (phoneNumber !== null && !phoneNumber.startsWith('+')) {
    const message = 'phoneNumber should include calling code';
    throw new PartnerApiFailure(400, 'BusinessRuleException', message);
  }
  validate(query, 'status', 'dateOfBirth');
  const words = query.get('name')?.toLowerCase().split(/\s+/);
  return filterBy<ClientRecord>(
    query,
    ['externalId', 'firstName', 'lastName', 'email', 'phoneNumber', 'dateOfBirth', 'status'],
    // Free text: every word must occur somewhere in the full name, in any order and case.
    words &&
      (({ firstName, lastName }) => {
        const fullName = `${firstName} ${lastName}`.toLowerCase();
        return words.every((word) => fullName.includes(word));
      }),
  );
}

/** Only the clinic's list has this filter. */
export function clinicianIdIn(query: URLSearchParams): string | undefined {
  validate(query, 'clinicianId');
  return query.get('clinicianId') ?? undefined;
}

export function clinicianFilter(query: URLSearchParams): Filter<ClinicianRecord> | undefined {
  validate(query, 'id');
  const id = query.get('id')?.toLowerCase();
  return filterBy<ClinicianRecord>(
    query,
    ['firstName', 'lastName', 'email', 'externalId'],
    id === undefined ? undefined : (record) => record.id === id,
  );
}

export function isDefaultOnly(query: URLSearchParams): boolean {
  validate(query, 'defaultOnly');
  return query.get('defaultOnly') === 'true';
}

/** The given fields must match exactly, and `extra` must hold. */
function filterBy<T>(
  query: URLSearchParams,
  fields: readonly (keyof T & string)[],
  extra: Filter<T> | undefined,
): Filter<T> | undefined {
  const given = fields.filter((field) => query.has(field));
  if (given.length === 0) return extra;
  return (record) =>
    given.every((field) => record[field] === query.get(field)) && (extra?.(record) ?? true);
}

/** To `Date.parse`, the 31st of February is the 2nd or 3rd of March. */
function isDate(text: string): boolean {
  const isWellFormed = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
  return isWellFormed && new Date(text).toISOString().startsWith(text);
}
