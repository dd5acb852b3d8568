import { authorization, messageOf } from './graphql.js';

const PROTOCOL = 'graphql-transport-ws';
const FIRST_WAIT_MS = 400;
const MAX_WAIT_MS = 10_000;
/** A dead connection is noticed after two of these. */
const PING_MS = 15_000;
/** Close codes after which reconnecting is of no use. */
const FINAL = new Map([
  [4400, 'The server did not understand this page.'],
  [4401, 'Your token is not accepted.'],
  [4403, 'Your token has expired, or is not accepted.'],
  [4406, 'The server uses another protocol.'],
]);

/** Codes of errors that pass: the subscription is tried again. */
const PASSING = new Set(['TIMEOUT', 'UPSTREAM_RATE_LIMITED', 'UPSTREAM_UNAVAILABLE']);

/**
 * One subscription that reconnects by itself. The last cursor is kept, and every new connection asks for what came after
 * it: a server that restarts costs time, never an event.
 */
export function subscribe({
  query,
  variables,
  cursor,
  pick,
  onEvent,
  onState,
  onExpired,
  onRefused,
}) {
  let last = cursor;
  let failures = 0;
  let socket;
  let listeners;
  let waiting;
  let pinging;
  let hasAnswered = true;
  let isOver = false;

  function connect() {
    clearTimeout(waiting);
    waiting = undefined;
    onState('connecting');
    const address = new URL('/graphql', location.href);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    socket = new WebSocket(address, PROTOCOL);
    const send = (message) => socket.readyState === 1 && socket.send(JSON.stringify(message));
    const payload = { query, variables: { ...variables, after: last } };
    const handlers = {
      connection_ack: () => {
        send({ id: '1', type: 'subscribe', payload });
        onState('live');
      },
      ping: () => send({ type: 'pong' }),
      // Not reset on the acknowledgement: a server that accepts and closes at once is asked less and less often.
      pong: () => (failures = 0),
      next: ({ payload: result }) => {
        const event = pick(result.data ?? {});
        // An event that can't be read has no cursor to resume from: everything is read again.
        if (!event) return end(onExpired);
        failures = 0;
        last = event.cursor;
        onEvent(event);
      },
      error: ({ payload: errors }) => refuse(errors[0]),
      complete: () => socket.close(),
    };
    listeners = new AbortController();
    const on = (name, react) => socket.addEventListener(name, react, { signal: listeners.signal });
    on('open', () => send({ type: 'connection_init', payload: authorization() }));
    on('message', ({ data }) => {
      hasAnswered = true;
      const message = JSON.parse(data);
      handlers[message.type]?.(message);
    });
    on('close', ({ code }) => closed(code));
    clearInterval(pinging);
    hasAnswered = true;
    pinging = setInterval(() => {
      if (!hasAnswered) return abandon();
      hasAnswered = false;
      send({ type: 'ping' });
    }, PING_MS);
  }

  /** A dead connection may take minutes to close: its events are ignored from now on. */
  function abandon() {
    listeners.abort();
    socket.close();
    closed(1006);
  }

  function closed(code) {
    clearInterval(pinging);
    if (isOver) return;
    if (FINAL.has(code)) return end(() => onRefused(FINAL.get(code), code));
    const longest = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
    failures += 1;
    // Spread out, so that many pages do not come back in the same moment.
    waiting = setTimeout(connect, longest * (0.5 + Math.random() / 2));
    onState('waiting');
  }

  function refuse(error) {
    const code = error?.extensions?.code;
    if (code === 'EVENTS_EXPIRED') return end(onExpired);
    if (PASSING.has(code)) return abandon();
    end(() => onRefused(error ? messageOf(error) : 'The server ended the stream.', code));
  }

  function end(then) {
    close();
    then();
  }

  const hurry = () => waiting !== undefined && !document.hidden && connect();
  // The browser may keep the socket open for minutes without a network.
  const drop = () => waiting === undefined && abandon();
  addEventListener('online', hurry);
  addEventListener('offline', drop);
  document.addEventListener('visibilitychange', hurry);

  function close() {
    isOver = true;
    clearTimeout(waiting);
    clearInterval(pinging);
    removeEventListener('online', hurry);
    removeEventListener('offline', drop);
    document.removeEventListener('visibilitychange', hurry);
    socket?.close(1000);
  }

  connect();
  return { close };
}
