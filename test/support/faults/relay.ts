import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { createRandom } from '../../../sandbox/data/random.ts';

/** Delays a chunk, and returns how many of its bytes arrive before the connection breaks. */
export type Transfer = (bytes: number) => Promise<number> | number;

/** A TCP proxy between two programs, for network faults that a kernel without `netem` can't make. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** The number of connections so far. */
  readonly dialled: number;
  /** New connections go to this port, as with a DNS name that moved; open ones stay where they are. */
  redirectTo(port: number): void;
  /** Nothing arrives any more, and no connection is closed: a partition. */
  stall(): void;
  flow(): void;
  /** The open connections lose all data and stay open, as when a firewall forgets them. New ones work. */
  drop(): void;
  /** Resets the open connections; data in flight is lost. */
  cut(): void;
}

const WITHOUT_LOSS: Transfer = (bytes) => bytes;

export async function openRelay(target: number, transfer: Transfer = WITHOUT_LOSS): Promise<Relay> {
  const ends = new Set<Socket>();
  const dropped = new WeakSet<Socket>();
  let leadsTo = target;
  let dialled = 0;
  let gate: PromiseWithResolvers<void> | undefined;

  async function carry(from: Socket, to: Socket) {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      const arriving = await transfer(chunk.length);
      await gate?.promise;
      if (dropped.has(from)) continue;
      if (to.destroyed) return;
      to.write(chunk.subarray(0, arriving));
      if (arriving < chunk.length) return;
    }
  }

  async function join(near: Socket, far: Socket) {
    for (const end of [near, far]) {
      ends.add(end);
      end.setNoDelay(true);
      end.on('error', () => undefined);
      end.on('close', () => ends.delete(end));
    }
    await Promise.race([carry(near, far), carry(far, near)]).catch(() => undefined);
    near.destroySoon();
    far.destroySoon();
  }

  const server = createServer((near) => {
    dialled += 1;
    void join(near, connect(leadsTo, '127.0.0.1'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const flow = () => gate?.resolve();
  const cut = () => ends.forEach((end) => end.resetAndDestroy());

  return {
    port: (server.address() as AddressInfo).port,
    get dialled() {
      return dialled;
    },
    redirectTo: (port) => void (leadsTo = port),
    stall: () => void (gate = Promise.withResolvers()),
    flow,
    drop: () => ends.forEach((end) => dropped.add(end)),
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      flow();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Packet loss as seen above TCP: delays, some of them long, and connections that break. */
export interface PacketLoss {
  readonly transfer: Transfer;
  begin(): void;
  end(): void;
}

const ONE_WAY_MS = 20;
/** What a retransmission, or the one after it, takes on a line as short as this. */
const STALL_MS = 200;

export function createPacketLoss(seed: number): PacketLoss {
  const { below, chance } = createRandom(seed);
  let isLossy = false;
  return {
    begin: () => void (isLossy = true),
    end: () => void (isLossy = false),
    async transfer(bytes) {
      if (!isLossy) return bytes;
      await setTimeout(ONE_WAY_MS + (chance(0.05) ? STALL_MS + below(STALL_MS) : 0));
      return chance(0.04) ? below(bytes) : bytes;
    },
  };
}
