import { once } from 'node:events';
import { connect } from 'node:net';

const AT_ONCE = 10;

/** Sends one query many times on one connection, some of them before the responses to earlier ones. */
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
  let [sent, answered, tail] = [0, 0, ''];
  const send = () => {
    const next = Math.min(count, answered + AT_ONCE);
    socket.write(request.repeat(next - sent));
    sent = next;
  };
  socket.on('data', (data: string) => {
    const parts = `${tail}${data}`.split('HTTP/1.1 200 ');
    answered += parts.length - 1;
    tail = (parts.at(-1) ?? '').slice(-16);
    if (answered === count) socket.end();
    else send();
  });
  send();
  await once(socket, 'close');
  if (answered < count) throw new Error(`wanted ${count} responses with 200, but got ${answered}`);
}
