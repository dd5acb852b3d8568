import { request } from 'undici';

import { type Gateway, tokenOf } from '../gateway.ts';

export type Ask = (query: string, variables: object) => Promise<never>;

/** One query after the other, as one client would send them. Not by `fetch`, which would take longer than the gateway. */
export async function createAsk({ url }: Gateway): Promise<Ask> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${await tokenOf('bench')}`,
  };
  return async (query, variables) => {
    const body = JSON.stringify({ query, variables });
    const response = await request(`${url}/graphql`, { method: 'POST', headers, body });
    const answer = (await response.body.json()) as { data?: never; errors?: readonly unknown[] };
    if (answer.errors || !answer.data) throw new Error('a query must be answered without errors');
    return answer.data;
  };
}
