import { GraphQLError } from 'graphql';

import { PATIENT, SECRETS } from '../canaries.ts';

const secretText = JSON.stringify({ ...PATIENT, ...SECRETS });
/** As HTTP clients put it on their errors. */
const config = {
  url: `/clients?name=${PATIENT.name}`,
  headers: { 'access-token': SECRETS.partnerToken },
  data: secretText,
};
const original = Object.assign(new Error(secretText), { config, response: { data: PATIENT } });

/** Values that code might throw, each with everything that must not be exposed. */
export const UNEXPECTED: Readonly<Record<string, unknown>> = {
  error: new Error(secretText),
  'a text': secretText,
  nothing: null,
  undefined,
  'an answer': { status: 500, body: PATIENT, headers: SECRETS, toString: () => secretText },
  'an error of GraphQL': new GraphQLError(secretText, {
    originalError: original,
    extensions: PATIENT,
  }),
  'an error with a cause': new TypeError(PATIENT.note, { cause: original }),
  'several errors': new AggregateError([original, new Error(SECRETS.apiKey)], secretText),
  'an error by another name': Object.assign(new Error('x'), {
    name: secretText,
    code: PATIENT.name,
  }),
  'an error that looks like a frame': new Error(`x\n    at f (src/${SECRETS.apiKey}/a.ts:1:2)`),
  'an error that writes itself': Object.assign(new Error(secretText), {
    toJSON: () => PATIENT,
    code: 'ECONNRESET',
  }),
  'an error of the system': Object.assign(new Error(`connect ${secretText}`), {
    code: 'ECONNREFUSED',
    address: PATIENT.email,
  }),
};
