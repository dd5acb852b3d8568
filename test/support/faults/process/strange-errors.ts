import { GraphQLError } from 'graphql';

import { PATIENT, SECRETS } from '../sentinels.ts';

const told = JSON.stringify({ ...PATIENT, ...SECRETS });
/** As HTTP clients put it on their errors. */
const config = {
  url: `/clients?name=${PATIENT.name}`,
  headers: { 'access-token': SECRETS.partnerToken },
  data: told,
};
const original = Object.assign(new Error(told), { config, response: { data: PATIENT } });

/** What somebody's code might throw one day, each with everything in it that must stay here. */
export const STRANGE: Readonly<Record<string, unknown>> = {
  error: new Error(told),
  'a text': told,
  nothing: null,
  undefined,
  'an answer': { status: 500, body: PATIENT, headers: SECRETS, toString: () => told },
  'an error of GraphQL': new GraphQLError(told, { originalError: original, extensions: PATIENT }),
  'an error with a cause': new TypeError(PATIENT.note, { cause: original }),
  'several errors': new AggregateError([original, new Error(SECRETS.apiKey)], told),
  'an error by another name': Object.assign(new Error('x'), { name: told, code: PATIENT.name }),
  'an error that looks like a frame': new Error(`x\n    at f (src/${SECRETS.apiKey}/a.ts:1:2)`),
  'an error that writes itself': Object.assign(new Error(told), {
    toJSON: () => PATIENT,
    code: 'ECONNRESET',
  }),
  'an error of the system': Object.assign(new Error(`connect ${told}`), {
    code: 'ECONNREFUSED',
    address: PATIENT.email,
  }),
};
