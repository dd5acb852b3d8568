import {
  Environment,
  type GraphQLResponse,
  Network,
  Observable,
  RecordSource,
  Store,
} from 'relay-runtime';

import { connect, resuming } from '../resume.ts';

export function createEnvironment(url: string, token: () => string | Promise<string>) {
  const sockets = connect(url.replace(/^http/, 'ws'), token);
  const resumed = resuming(sockets);

  const network = Network.create(
    async ({ text: query }, variables) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await token()}`,
        },
        body: JSON.stringify({ query, variables }),
      });
      return response.json();
    },
    ({ text: query }, variables) =>
      Observable.create((sink) =>
        resumed.subscribe(
          { query: query ?? '', variables },
          {
            next: (result) => sink.next(result as GraphQLResponse),
            error: (reason) => sink.error(new Error('The subscription ended.', { cause: reason })),
            complete: () => sink.complete(),
          },
        ),
      ),
  );
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  return { environment, close: () => sockets.dispose() };
}
