import * as fc from 'fast-check';
import { type Dispatcher, Pool } from 'undici';

import { type Gateway, tokenFor } from '../gateway.ts';
import { documents } from '../leak/actions.ts';
import { documentsOf, mutatedDocuments } from './documents.ts';
import { anyValue } from './values.ts';
import { expectResponse } from './expect-response.ts';

export interface Said {
  readonly status: number;
  readonly text: string;
}

export interface Poster extends AsyncDisposable {
  send(path: string, body: string | Buffer, headers: Record<string, string>): Promise<Said>;
}

export function createPoster({ url }: Gateway): Poster {
  const pool = new Pool(url, { connections: 8 });
  return {
    async send(path, body, headers) {
      const options: Dispatcher.RequestOptions = { method: 'POST', path, headers, body };
      const answer = await pool.request(options);
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** `POST /graphql` with documents, variables, bodies and headers of every kind. */
export async function graphqlProperties(gateway: Gateway, { send }: Poster) {
  const authorization = `Bearer ${await tokenFor(['partner'])}`;
  const { sandbox } = gateway;
  const ask = async (request: object) => {
    const body = JSON.stringify(request);
    const { status, text } = await send('/graphql', body, { ...JSON_TYPE, authorization });
    expectResponse(status, text, 'graphql');
  };
  const anyDocument = fc.oneof(
    documentsOf(sandbox),
    mutatedDocuments,
    fc.string({ unit: 'binary', maxLength: 200 }),
  );
  const names = [
    'client',
    'session',
    'note',
    'clinician',
    'key',
    'score',
    'after',
    'nodes',
    'hint',
  ];
  const variables = fc.dictionary(fc.constantFrom(...names, '__proto__', 'x'), anyValue(sandbox));

  return {
    documents: fc.asyncProperty(anyDocument, (query) => ask({ query, variables: { x: true } })),
    variables: fc.asyncProperty(
      fc.constantFrom(...Object.values(documents)),
      variables,
      (query, given) => ask({ query, variables: given }),
    ),
    requests: fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.string({ unit: 'binary' }),
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        fc
          .record({ query: anyValue(sandbox), operationName: anyValue(sandbox) })
          .map((request) => JSON.stringify(request)),
      ),
      anyHeaders(authorization),
      async (body, headers) => {
        const { status, text } = await send('/graphql', body, headers);
        expectResponse(status, text, 'request');
      },
    ),
  };
}

const headerText = fc.stringMatching(/^[\x21-\x7e][\x20-\x7e]{0,40}[\x21-\x7e]$/);

function anyHeaders(authorization: string): fc.Arbitrary<Record<string, string>> {
  return fc.record(
    {
      'content-type': fc.oneof(
        fc.constantFrom('application/json', 'application/json;charset=utf-8'),
        headerText,
      ),
      accept: fc.oneof(
        fc.constantFrom(
          '*/*',
          'application/json',
          'application/graphql-response+json',
          'text/html;q=0.1',
        ),
        headerText,
      ),
      authorization: fc.oneof(
        { weight: 4, arbitrary: fc.constant(authorization) },
        headerText.map((text) => `Bearer ${text}`),
      ),
      origin: headerText,
      traceparent: headerText,
      'content-encoding': fc.constantFrom('identity', 'gzip', 'x'),
      'idempotency-key': headerText,
    },
    { requiredKeys: [] },
  );
}
