import { CLINIC_COUNT, CLIENTS_WITH_FULL_PAGE } from '../data/hierarchy.ts';
import type { Random } from '../data/random.ts';
import type { Roster } from '../data/roster.ts';
import type { Generation } from '../generation.ts';
import type { Switches } from './switches.ts';

const EVENTS_PER_FINISHED_SESSION = 2;
/** The first session starts soon, so that a demo shows something at once. */
const FIRST_AFTER_MS = 500;

/** Starts sessions automatically, every `pulseMs`. */
export function createActivity(
  roster: Roster,
  generation: Generation,
  switches: Readonly<Switches>,
  random: Random,
) {
  let timer: NodeJS.Timeout | undefined;

  /** In the first clinic, mostly clients on the first pages, because a demo shows those first. */
  function pickClient(clinic: number): number {
    const clients = roster.clientsOfClinic(clinic);
    const isFirstPages = clinic === 0 && random.chance(0.7);
    return random.pick(isFirstPages ? clients.slice(0, CLIENTS_WITH_FULL_PAGE) : clients);
  }

  function startSession(clinic: number) {
    const client = pickClient(clinic);
    generation.startSession(client, { failTranscription: random.chance(0.06), finalize: true });
    if (random.chance(0.2)) generation.completeAssessments(client, 1 + random.below(2));
  }

  /** Starts one session in the first clinic, which a demo shows, and sometimes one in another clinic. */
  function startSessions() {
    reschedule(switches.pulseMs);
    startSession(0);
    if (random.chance(0.4)) startSession(1 + random.below(CLINIC_COUNT - 1));
  }

  /** Must be called after `pulseMs` has changed. */
  function reschedule(delayMs = Math.min(FIRST_AFTER_MS, switches.pulseMs)) {
    clearTimeout(timer);
    if (switches.pulseMs > 0) timer = setTimeout(startSessions, delayMs).unref();
  }

  reschedule();
  return {
    reschedule: () => reschedule(),
    /** Emits at least `count` events now. */
    burst(count: number) {
      for (let sent = 0; sent < count; sent += EVENTS_PER_FINISHED_SESSION) {
        generation.finishSession(pickClient(random.below(CLINIC_COUNT)));
      }
    },
    close: () => clearTimeout(timer),
  };
}
