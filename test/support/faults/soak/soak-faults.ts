import { setTimeout } from 'node:timers/promises';

import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import type { RedisServer } from '../../redis-server.ts';
import type { ServerProcess } from '../process/process.ts';

/** The targets of the faults. One server gets none, so that its memory can be measured. */
export interface Victims {
  readonly sandbox: Sandbox;
  readonly redis: RedisServer | undefined;
  readonly unlucky: () => ServerProcess;
  /** How long a fault lasts that does not end by itself. */
  readonly lastsMs: number;
  restart(): Promise<void>;
}

type Fault = (victims: Victims) => Promise<void>;

export const FAULTS: Readonly<Record<string, Fault>> = {
  async SIGTERM({ unlucky, restart }) {
    unlucky().signal('SIGTERM');
    await unlucky().exited;
    await restart();
  },
  async 'Partner API answers 5xx'({ sandbox, lastsMs }) {
    sandbox.set({ failureRate: 0.5 });
    await setTimeout(lastsMs);
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
  async 'process stopped'({ unlucky, lastsMs }) {
    unlucky().signal('SIGSTOP');
    await setTimeout(lastsMs);
    unlucky().signal('SIGCONT');
  },
  async 'Partner API hangs'({ sandbox, lastsMs }) {
    sandbox.set({ latencyMs: 10 * lastsMs });
    await setTimeout(lastsMs);
    sandbox.set({ latencyMs: 0 });
  },
  async 'Redis stopped'({ redis, lastsMs }) {
    if (redis) process.kill(redis.pid, 'SIGSTOP');
    await setTimeout(lastsMs);
    if (redis) process.kill(redis.pid, 'SIGCONT');
  },
  async 'tokens expire'({ sandbox }) {
    sandbox.expireTokens();
  },
};
