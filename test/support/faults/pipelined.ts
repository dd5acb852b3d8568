import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends one query many times on one connection, without waiting for responses in between. */
export async function askOften(
  url: string,
  token: string,
  count: number,
  body: object,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const text = JSON.stringify(body);
  const request = [
    'POST /graphql HTTP/1.1',
    `host: ${hostname}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    '',
    text,
  ].join('\r\n');
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  let [answered, tail] = [0, ''];
  socket.on('data', (data: string) => {
    const parts = `${tail}${data}`.split('HTTP/1.1 200 ');
    answered += parts.length - 1;
    tail = (parts.at(-1) ?? '').slice(-16);
    if (answered === count) socket.end();
  });
  socket.write(request.repeat(count));
  await once(socket, 'close');
  if (answered < count) throw new Error(`wanted ${count} responses with 200, but got ${answered}`);
}
