import { rmSync } from 'node:fs';

import { type Sandbox, type Switches, openSandbox } from '../../../sandbox/sandbox.ts';
import { QUIET, tokenFor } from '../gateway.ts';
import { type Follower, follow } from './follower.ts';
import { account, cursorNow, logged } from './soak/ledger.ts';
import {
  type ProcessOptions,
  type ServerProcess,
  createStoreDir,
  startServer,
} from './process/process.ts';
import { type Sender, startSender } from './sender.ts';

/** A Partner API and a server over it that may come and go: each test has its own, so that they can run side by side. */
export interface Scene extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly storeDir: string;
  /** The one that runs now. */
  readonly server: ServerProcess;
  readonly url: () => string;
  /** Another process on the same store. */
  start(changed?: ProcessOptions): Promise<void>;
  /** Webhooks, and a subscriber who hears of them; both through a relay, if there is one. */
  load(through?: () => string): Promise<Load>;
}

export interface Load {
  readonly sender: Sender;
  readonly follower: Follower;
  /** Ends it, and counts what was acknowledged and is not in the log, or was not heard; and what is there twice. */
  settle(): Promise<object>;
}

export const NOTHING_AMISS = {
  logged: { lost: 0, repeated: 0 },
  heard: { lost: 0, repeated: 0 },
  codes: [],
};

export async function openScene(
  options: Omit<ProcessOptions, 'sandbox'> & { readonly switches?: Partial<Switches> } = {},
): Promise<Scene> {
  const sandbox = await openSandbox({ switches: { ...QUIET, ...options.switches } });
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
      return {
        sender,
        follower,
        async settle() {
          await sender.stop();
          await follower.hears(sender.acknowledged);
          follower.close();
          return {
            logged: account(sender.acknowledged, await logged(server.query, after)),
            heard: account(sender.acknowledged, follower.heard),
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
