import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** What happens on the way. It may wait, and answers how many bytes of the chunk arrive before the line breaks. */
export type Weather = (bytes: number) => Promise<number> | number;

/** A line between two programs, for faults that a kernel without `netem` can't make. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** How many connections there have been. */
  readonly dialled: number;
  /** New connections go there, as with a name that moved; those that are open stay where they are. */
  leadTo(port: number): void;
  /** Nothing arrives any more, and nobody is told: a partition. */
  stall(): void;
  flow(): void;
  /** Breaks what is open; what was under way is gone. */
  cut(): void;
}

const FAIR: Weather = (bytes) => bytes;

export async function openRelay(target: number, weather: Weather = FAIR): Promise<Relay> {
  const ends = new Set<Socket>();
  let leadsTo = target;
  let dialled = 0;
  let gate: PromiseWithResolvers<void> | undefined;

  async function carry(from: Socket, to: Socket) {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      const arriving = await weather(chunk.length);
      await gate?.promise;
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
    leadTo: (port) => void (leadsTo = port),
    stall: () => void (gate = Promise.withResolvers()),
    flow,
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      flow();
      server.close();
      await once(server, 'close');
    },
  };
}
