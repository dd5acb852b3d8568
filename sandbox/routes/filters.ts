import { CLIENT_STATUSES, type ClientRecord, type ClinicianRecord } from '../data/records.ts';
import { businessRule, invalid } from '../http/errors.ts';

type Filter<T> = (record: T) => boolean;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Undefined without a filter, so that the plain list renders only the rows of its page. */
export function clientFilter(query: URLSearchParams): Filter<ClientRecord> | undefined {
  const phoneNumber = query.get('phoneNumber');
  if (phoneNumber !== null && !phoneNumber.startsWith('+')) {
    throw businessRule('phoneNumber should include calling code');
  }
  const issues = [
    ...issueUnless(query, 'status', isStatus, `must be one of ${CLIENT_STATUSES.join(', ')}`),
    ...issueUnless(query, 'dateOfBirth', isDate, 'must be a valid ISO 8601 date string'),
  ];
  if (issues.length > 0) throw invalid(...issues);
  const exact = exactMatches<ClientRecord>(query, [
    'externalId',
    'firstName',
    'lastName',
    'email',
    'phoneNumber',
    'dateOfBirth',
    'status',
  ]);
  const name = query.get('name');
  return allOf(name === null ? exact : [...exact, hasName(name)]);
}

/** A filter of the clinic's list only. */
export function clinicianIdIn(query: URLSearchParams): string | undefined {
  const issues = issueUnless(query, 'clinicianId', (text) => UUID.test(text), 'must be a UUID');
  if (issues.length > 0) throw invalid(...issues);
  return query.get('clinicianId') ?? undefined;
}

export function clinicianFilter(query: URLSearchParams): Filter<ClinicianRecord> | undefined {
  const issues = issueUnless(query, 'id', (text) => UUID.test(text), 'must be a UUID');
  if (issues.length > 0) throw invalid(...issues);
  const id = query.get('id')?.toLowerCase();
  const exact = exactMatches<ClinicianRecord>(query, [
    'firstName',
    'lastName',
    'email',
    'externalId',
  ]);
  return allOf(id === undefined ? exact : [...exact, (record) => record.id === id]);
}

export function isDefaultOnly(query: URLSearchParams): boolean {
  const given = query.get('defaultOnly');
  if (given !== null && given !== 'true' && given !== 'false') {
    throw invalid('defaultOnly must be a boolean value');
  }
  return given === 'true';
}

function exactMatches<T>(
  query: URLSearchParams,
  fields: readonly (keyof T & string)[],
): Filter<T>[] {
  return fields.flatMap((field) => {
    const wanted = query.get(field);
    return wanted === null ? [] : [(record: T) => record[field] === wanted];
  });
}

/** Free text: every word must occur somewhere in the full name, in any order and case. */
function hasName(text: string): Filter<ClientRecord> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ firstName, lastName }) => {
    const fullName = `${firstName} ${lastName}`.toLowerCase();
    return words.every((word) => fullName.includes(word));
  };
}

function issueUnless(
  query: URLSearchParams,
  field: string,
  isValid: (text: string) => boolean,
  rule: string,
): string[] {
  const given = query.get(field);
  return given === null || isValid(given) ? [] : [`${field} ${rule}`];
}

const allOf = <T>(filters: readonly Filter<T>[]): Filter<T> | undefined =>
  filters.length === 0 ? undefined : (record) => filters.every((matches) => matches(record));

const isStatus = (text: string) => CLIENT_STATUSES.some((status) => status === text);
/** To `Date.parse`, the 31st of February is the 2nd or 3rd of March. */
const isDate = (text: string) =>
  DATE.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text);
