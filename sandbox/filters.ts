import { brokenRule, invalid } from './errors.ts';
import { CLIENT_STATUSES, type ClientRecord, type ClinicianRecord } from './records.ts';

export type Test<T> = (record: T) => boolean;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Undefined when nothing is filtered, so that the plain list never renders a row it does not show. */
export function clientTest(query: URLSearchParams): Test<ClientRecord> | undefined {
  const phoneNumber = query.get('phoneNumber');
  if (phoneNumber !== null && !phoneNumber.startsWith('+')) {
    throw brokenRule('phoneNumber should include calling code');
  }
  const issues = [
    ...issueUnless(query, 'status', isStatus, `must be one of ${CLIENT_STATUSES.join(', ')}`),
    ...issueUnless(query, 'dateOfBirth', isDate, 'must be a valid ISO 8601 date string'),
  ];
  if (issues.length > 0) throw invalid(...issues);
  const exact = exactly<ClientRecord>(query, [
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

/** Only the clinic's list takes it. */
export function clinicianIdIn(query: URLSearchParams): string | undefined {
  const issues = issueUnless(query, 'clinicianId', (text) => UUID.test(text), 'must be a UUID');
  if (issues.length > 0) throw invalid(...issues);
  return query.get('clinicianId') ?? undefined;
}

export function clinicianTest(query: URLSearchParams): Test<ClinicianRecord> | undefined {
  const issues = issueUnless(query, 'id', (text) => UUID.test(text), 'must be a UUID');
  if (issues.length > 0) throw invalid(...issues);
  const id = query.get('id')?.toLowerCase();
  const exact = exactly<ClinicianRecord>(query, ['firstName', 'lastName', 'email', 'externalId']);
  return allOf(id === undefined ? exact : [...exact, (record) => record.id === id]);
}

export function isDefaultOnly(query: URLSearchParams): boolean {
  const given = query.get('defaultOnly');
  if (given !== null && given !== 'true' && given !== 'false') {
    throw invalid('defaultOnly must be a boolean value');
  }
  return given === 'true';
}

function exactly<T>(query: URLSearchParams, fields: readonly (keyof T & string)[]): Test<T>[] {
  return fields.flatMap((field) => {
    const wanted = query.get(field);
    return wanted === null ? [] : [(record: T) => record[field] === wanted];
  });
}

/** Free text: every word must occur somewhere in the full name, in any order and case. */
function hasName(text: string): Test<ClientRecord> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ firstName, lastName }) => {
    const fullName = `${firstName} ${lastName}`.toLowerCase();
    return words.every((word) => fullName.includes(word));
  };
}

function issueUnless(
  query: URLSearchParams,
  field: string,
  isGood: (text: string) => boolean,
  rule: string,
): string[] {
  const given = query.get(field);
  return given === null || isGood(given) ? [] : [`${field} ${rule}`];
}

const allOf = <T>(tests: readonly Test<T>[]): Test<T> | undefined =>
  tests.length === 0 ? undefined : (record) => tests.every((test) => test(record));

const isStatus = (text: string) => CLIENT_STATUSES.some((status) => status === text);
/** `Date` would let a 31 February pass as 2 March. */
const isDate = (text: string) =>
  DATE.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text);
