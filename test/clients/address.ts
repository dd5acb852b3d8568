import { type AddressInfo, createServer } from 'node:net';

export const socketUrl = (url: string): string => `${url.replace('http', 'ws')}/graphql`;

/** For a gateway that is to come back where it was. */
export async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
