import { rmSync } from 'node:fs';

import { type Sandbox, type Switches, openSandbox } from '../../../sandbox/sandbox.ts';
import { DETERMINISTIC, tokenFor } from '../gateway.ts';
import { type Follower, follow } from './follower.ts';
import { lossesIn, cursorNow, logged } from './losses.ts';
import {
  type ProcessOptions,
  type ServerProcess,
  createStoreDir,
  startServer,
} from './process/process.ts';
import { type Sender, startSender } from './sender.ts';

/** A sandbox and a server process over it, which can be restarted. Each test has its own, so that they can run in parallel. */
export interface Deployment extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly storeDir: string;
  /** The process that runs now. */
  readonly server: ServerProcess;
  readonly url: () => string;
  /** Another process on the same store. */
  start(changed?: ProcessOptions): Promise<void>;
  /** Starts webhooks and a subscriber to their events; both through a relay, if there is one. Resolves when both run. */
  load(through?: () => string): Promise<Load>;
}

export interface Load {
  readonly sender: Sender;
  readonly follower: Follower;
  /** Stops both, and counts acknowledged events that are missing or repeated, in the log and at the subscriber. */
  settle(): Promise<object>;
}

export const NO_LOSSES = {
  logged: { lost: 0, repeated: 0 },
  received: { lost: 0, repeated: 0 },
  codes: [],
};

export async function openDeployment(
  options: Omit<ProcessOptions, 'sandbox'> & { readonly switches?: Partial<Switches> } = {},
): Promise<Deployment> {
  const sandbox = await openSandbox({ switches: { ...DETERMINISTIC, ...options.switches } });
  const storeDir = options.storeDir ?? createStoreDir();
  let server = await startServer({ ...options, sandbox, storeDir });
  const url = () => server.url;

  return {
    sandbox,
    storeDir,
    url,
    get server() {
      return server;
    },
    async start(changed) {
      server = await startServer({ ...options, ...changed, sandbox, storeDir });
    },
    async load(through = url) {
      const after = await cursorNow(server.query);
      const follower = follow({ url: through, after, token: await tokenFor(['partner']) });
      const sender = startSender({ url: through, sandbox });
      await sender.more(40);
      // A subscription that begins only when a fault does ends with an error, as it should.
      await follower.receives(new Set(sender.acknowledged));
      return {
        sender,
        follower,
        async settle() {
          await sender.stop();
          await follower.receives(sender.acknowledged);
          follower.close();
          return {
            logged: lossesIn(sender.acknowledged, await logged(server.query, after)),
            received: lossesIn(sender.acknowledged, follower.received),
            codes: follower.codes,
          };
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await sandbox.close();
      rmSync(storeDir, { recursive: true, force: true });
    },
  };
}
