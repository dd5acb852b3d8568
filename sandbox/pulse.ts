import { CLINIC_COUNT, FULL_CLIENTS } from './layout.ts';
import type { Draws } from './rng.ts';
import type { Roster } from './roster.ts';
import type { Service } from './service.ts';
import type { Switches } from './switches.ts';

/** Life in the made-up clinics: sessions that begin by themselves. */
export interface Pulse {
  /** To be called after `pulseMs` was changed. */
  readonly retime: () => void;
  /** At least `count` events now. */
  readonly burst: (count: number) => void;
  readonly close: () => void;
}

const EVENTS_PER_FINISHED_SESSION = 2;

export function createPulse(
  roster: Roster,
  service: Service,
  switches: Readonly<Switches>,
  draws: Draws,
): Pulse {
  let timer: NodeJS.Timeout | undefined;

  /** Every other one is a client whom the first pages show. */
  function someClient(): number | undefined {
    const clinic = draws.chance(0.5) ? 0 : draws.below(CLINIC_COUNT);
    const clients = roster.clientsOfClinic(clinic);
    const shown = clinic === 0 && draws.chance(0.7) ? clients.slice(0, FULL_CLIENTS) : clients;
    return shown.length === 0 ? undefined : draws.pick(shown);
  }

  function beat() {
    const client = someClient();
    if (client === undefined) return;
    service.startSession(client, { failTranscription: draws.chance(0.06), finalize: true });
    if (draws.chance(0.2)) service.completeAssessments(client, 1 + draws.below(2));
  }

  function retime() {
    clearInterval(timer);
    timer = switches.pulseMs > 0 ? setInterval(beat, switches.pulseMs).unref() : undefined;
  }

  retime();
  return {
    retime,
    burst(count) {
      for (let sent = 0; sent < count; sent += EVENTS_PER_FINISHED_SESSION) {
        const client = someClient();
        if (client !== undefined) service.finishSession(client);
      }
    },
    close: () => clearInterval(timer),
  };
}
