import { setTimeout } from 'node:timers/promises';

import { createRandom } from '../../../../sandbox/data/random.ts';
import type { Weather } from '../relay.ts';

/** What the loss of packets looks like from above TCP: waiting, sometimes for long, sometimes in vain. */
export interface Storm {
  readonly weather: Weather;
  begin(): void;
  end(): void;
}

const ONE_WAY_MS = 100;
/** What a retransmission, or the one after it, takes. */
const STALL_MS = 1_000;

export function createStorm(seed: number): Storm {
  const { below, chance } = createRandom(seed);
  let raging = false;
  return {
    begin: () => void (raging = true),
    end: () => void (raging = false),
    async weather(bytes) {
      if (!raging) return bytes;
      await setTimeout(ONE_WAY_MS + (chance(0.05) ? STALL_MS + below(STALL_MS) : 0));
      return chance(0.04) ? below(bytes) : bytes;
    },
  };
}
