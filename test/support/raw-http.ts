import { type Socket, connect } from 'node:net';

/** Sends raw bytes and returns everything received until the other side closed. */
export function raw(
  url: string,
  bytes: string | Buffer,
  onOpen?: (socket: Socket) => void,
): Promise<string> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('close', () => resolve(received)).on('error', () => resolve(received));
    socket.write(bytes);
    onOpen?.(socket);
  });
}

/** A header given as a list is repeated for each value; one that is undefined is omitted. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request that closes its connection, with the length that its body has unless another is given. */
export function requestOf(line: string, headers: Headers, body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body);
  const isSized = 'Content-Length' in headers || 'Transfer-Encoding' in headers;
  const all: Headers = {
    Host: 'a',
    Connection: 'close',
    ...(isSized ? {} : { 'Content-Length': String(bytes.length) }),
    ...headers,
  };
  const written = Object.entries(all).flatMap(([name, value = []]) =>
    [value].flat().map((text) => `${name}: ${text}`),
  );
  return Buffer.concat([Buffer.from(`${[line, ...written].join('\r\n')}\r\n\r\n`), bytes]);
}
