import { request } from 'undici';
import { WebSocket } from 'ws';

import {
  type Fire,
  type Fired,
  type Join,
  type Order,
  SOCKETS_OF_A_VIEWER,
} from './subscribers-order.ts';

/** More at once and the kernel's queue of connections is what is measured. */
const JOINING_AT_ONCE = 100;

let received = 0;
let lastAt = 0;
let sample = '';
let onReceived: (() => void) | undefined;

function onEvent(data: Buffer): void {
  received += 1;
  lastAt = performance.now();
  if (sample === '') sample = data.toString();
  onReceived?.();
}

function join({ url, tokens, query, clinicianIds }: Join, number: number): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  const clinicianId = clinicianIds?.[number];
  const variables = { filter: clinicianId ? { clinicianId } : null };
  const id = `operation-${String(number).padStart(6, '0')}`;
  const authorization = `Bearer ${tokens[Math.floor(number / SOCKETS_OF_A_VIEWER)]}`;
  return new Promise((resolve, reject) => {
    let isJoined = false;
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`a socket was closed with ${code}`)));
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } })),
    );
    socket.on('message', (data: Buffer) => {
      if (isJoined) return onEvent(data);
      isJoined = true;
      socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables } }));
      resolve();
    });
  });
}

async function joinAll(order: Join): Promise<number> {
  let next = order.from;
  const worker = async (): Promise<void> => {
    while (next < order.from + order.count) {
      next += 1;
      await join(order, next - 1);
    }
  };
  await Promise.all(Array.from({ length: JOINING_AT_ONCE }, worker));
  return order.count;
}

async function fire({ url, deliveries, expected, withinMs }: Fire): Promise<Fired> {
  const lastMs: (number | undefined)[] = [];
  for (const { body, headers } of deliveries) {
    received = 0;
    sample = '';
    const startedAt = performance.now();
    const all = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs);
      onReceived = () => {
        if (received < expected) return;
        clearTimeout(timer);
        resolve(true);
      };
    });
    const response = await request(`${url}/webhooks`, { method: 'POST', headers, body });
    await response.body.dump();
    lastMs.push((await all) ? lastAt - startedAt : undefined);
  }
  return { lastMs, sample };
}

/** A process full of subscribers: raw `ws` clients of graphql-transport-ws, which post the events themselves. */
async function obey(order: Order): Promise<void> {
  try {
    process.send?.(order.kind === 'join' ? { joined: await joinAll(order) } : await fire(order));
  } catch (error) {
    process.stderr.write(`subscribers: ${error instanceof Error ? error.message : 'failed'}\n`);
    process.exit(1);
  }
}

process.on('message', (order: Order) => void obey(order));
process.on('disconnect', () => process.exit(0));
