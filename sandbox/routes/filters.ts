import { CLIENT_STATUSES, type ClientRecord, type ClinicianRecord } from '../data/records.ts';
import { businessRule, invalid } from '../http/errors.ts';

type Filter<T> = (record: T) => boolean;
type Rule = readonly [isValid: (text: string) => boolean, message: string];

const UUID: Rule = [
  (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  'must be a UUID',
];
const RULES = {
  id: UUID,
  clinicianId: UUID,
  status: [
    (text) => CLIENT_STATUSES.some((status) => status === text),
    `must be one of ${CLIENT_STATUSES.join(', ')}`,
  ],
  dateOfBirth: [isDate, 'must be a valid ISO 8601 date string'],
  defaultOnly: [(text) => text === 'true' || text === 'false', 'must be a boolean value'],
} satisfies Record<string, Rule>;

function validate(query: URLSearchParams, ...fields: readonly (keyof typeof RULES)[]): void {
  const issues = fields.flatMap((field) => {
    const [isValid, message] = RULES[field];
    const value = query.get(field);
    return value === null || isValid(value) ? [] : [`${field} ${message}`];
  });
  if (issues.length > 0) throw invalid(...issues);
}

/** Undefined without a filter, so that the plain list renders only the rows of its page. */
export function clientFilter(query: URLSearchParams): Filter<ClientRecord> | undefined {
  const phoneNumber = query.get('phoneNumber');
  if (phoneNumber !== null && !phoneNumber.startsWith('+')) {
    throw businessRule('phoneNumber should include calling code');
  }
  validate(query, 'status', 'dateOfBirth');
  const words = query.get('name')?.toLowerCase().split(/\s+/);
  return allOf<ClientRecord>(
    ...exactMatches<ClientRecord>(query, 'externalId', 'firstName', 'lastName', 'email'),
    ...exactMatches<ClientRecord>(query, 'phoneNumber', 'dateOfBirth', 'status'),
    // Free text: every word must occur somewhere in the full name, in any order and case.
    words &&
      (({ firstName, lastName }) => {
        const fullName = `${firstName} ${lastName}`.toLowerCase();
        return words.every((word) => fullName.includes(word));
      }),
  );
}

/** A filter of the clinic's list only. */
export function clinicianIdIn(query: URLSearchParams): string | undefined {
  validate(query, 'clinicianId');
  return query.get('clinicianId') ?? undefined;
}

export function clinicianFilter(query: URLSearchParams): Filter<ClinicianRecord> | undefined {
  validate(query, 'id');
  const id = query.get('id')?.toLowerCase();
  return allOf<ClinicianRecord>(
    ...exactMatches<ClinicianRecord>(query, 'firstName', 'lastName', 'email', 'externalId'),
    id === undefined ? undefined : (record) => record.id === id,
  );
}

export function isDefaultOnly(query: URLSearchParams): boolean {
  validate(query, 'defaultOnly');
  return query.get('defaultOnly') === 'true';
}

const exactMatches = <T>(query: URLSearchParams, ...fields: readonly (keyof T & string)[]) =>
  fields
    .filter((field) => query.has(field))
    .map((field) => (record: T) => record[field] === query.get(field));

function allOf<T>(...given: readonly (Filter<T> | undefined)[]): Filter<T> | undefined {
  const filters = given.filter((filter) => filter !== undefined);
  return filters.length === 0 ? undefined : (record) => filters.every((matches) => matches(record));
}

/** To `Date.parse`, the 31st of February is the 2nd or 3rd of March. */
function isDate(text: string): boolean {
  const isWellFormed = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
  return isWellFormed && new Date(text).toISOString().startsWith(text);
}
