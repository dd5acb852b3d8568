import { authorization, messageOf } from './graphql.js';

const PROTOCOL = 'graphql-transport-ws';
const FIRST_WAIT_MS = 400;
const MAX_WAIT_MS = 10_000;
/** A dead connection is detected after two of these intervals. */
const PING_MS = 15_000;
/** Close codes after which reconnecting does not help. */
const FINAL = new Map([
  [4400, 'The server did not understand this page.'],
  [4401, 'Your token is not accepted.'],
  [4403, 'Your token has expired, or is not accepted.'],
  [4406, 'The server uses another protocol.'],
]);

/** Codes of temporary errors: the subscription is retried. */
const TRANSIENT = new Set(['TIMEOUT', 'UPSTREAM_RATE_LIMITED', 'UPSTREAM_UNAVAILABLE']);

/**
 * One subscription that reconnects automatically. Every new connection resumes after the last cursor, so no event is lost
 * when the server restarts.
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
      // Not reset by `connection_ack`: the delay must still grow if the server accepts and then closes at once.
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
    // With jitter, so that many pages do not reconnect at the same moment.
    waiting = setTimeout(connect, longest * (0.5 + Math.random() / 2));
    onState('waiting');
  }

  function refuse(error) {
    const code = error?.extensions?.code;
    if (code === 'EVENTS_EXPIRED') return end(onExpired);
    if (TRANSIENT.has(code)) return abandon();
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
