import { graphql } from './gql/gql.ts';
import type { TypedDocumentString } from './gql/graphql.ts';

const CLIENTS = graphql(`
  query Clients($clinicId: ID!, $after: String, $filter: ClinicClientFilter) {
    clinic(id: $clinicId) {
      clients(first: 10, after: $after, filter: $filter) {
        totalCount
        nodes {
          clientId
          lastName
          dateOfBirth
          status
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

/** The response has errors: `codes` are their `extensions.code`. */
export class GatewayError extends Error {
  readonly codes: readonly string[];

  constructor(codes: readonly string[]) {
    super(codes.join(', '));
    this.codes = codes;
  }
}

export function createGateway(url: string, token: () => string | Promise<string>) {
  return async function ask<Data, Variables>(
    document: TypedDocumentString<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await token()}`,
      },
      body: JSON.stringify({ query: document.toString(), variables }),
    });
    const { data, errors } = (await response.json()) as {
      data?: Data;
      errors?: { extensions: { code: string } }[];
    };
    if (errors) throw new GatewayError(errors.map(({ extensions }) => extensions.code));
    return data as Data;
  };
}

/** Every name and type in here is checked against the schema. */
export async function bornOn(
  day: string,
  clinicId: string,
  ask: ReturnType<typeof createGateway>,
): Promise<readonly string[]> {
  const filter = { dateOfBirth: day, status: 'ACTIVE' } as const;
  const { clinic } = await ask(CLIENTS, { clinicId, filter });
  return clinic?.clients?.nodes.map(({ lastName }) => lastName ?? '') ?? [];
}
