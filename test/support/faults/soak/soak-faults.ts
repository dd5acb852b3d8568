import { setTimeout } from 'node:timers/promises';

import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import type { RedisServer } from '../../redis-server.ts';
import type { ServerProcess } from '../process/process.ts';

/** What the faults are done to. One server is left alone, so that its memory can be watched. */
export interface Victims {
  readonly sandbox: Sandbox;
  readonly redis: RedisServer | undefined;
  readonly unlucky: () => ServerProcess;
  restart(): Promise<void>;
}

type Fault = (victims: Victims) => Promise<void>;

const LASTS_MS = 1_000;

export const FAULTS: Readonly<Record<string, Fault>> = {
  async SIGTERM({ unlucky, restart }) {
    unlucky().signal('SIGTERM');
    await unlucky().exited;
    await restart();
  },
  async 'Partner API answers 5xx'({ sandbox }) {
    sandbox.set({ failureRate: 0.5 });
    await setTimeout(LASTS_MS);
    sandbox.set({ failureRate: 0 });
  },
  async 'kill -9'({ unlucky, restart }) {
    await unlucky().kill();
    await restart();
  },
  async 'Redis killed'({ redis }) {
    await redis?.kill();
    await redis?.start();
  },
  async 'process stopped'({ unlucky }) {
    unlucky().signal('SIGSTOP');
    await setTimeout(LASTS_MS);
    unlucky().signal('SIGCONT');
  },
  async 'Partner API hangs'({ sandbox }) {
    sandbox.set({ latencyMs: 10 * LASTS_MS });
    await setTimeout(LASTS_MS);
    sandbox.set({ latencyMs: 0 });
  },
  async 'Redis stopped'({ redis }) {
    if (redis) process.kill(redis.pid, 'SIGSTOP');
    await setTimeout(LASTS_MS);
    if (redis) process.kill(redis.pid, 'SIGCONT');
  },
  async 'tokens expire'({ sandbox }) {
    sandbox.expireTokens();
  },
};
