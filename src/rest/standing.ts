import type { Clock } from './clock.ts';
import type { PartnerError } from './errors.ts';

/** Whether the API's gateway takes our key: a token can be good while every call is refused. */
export interface Standing {
  lose(error: PartnerError): void;
  restore(): void;
  /** Since when, on the monotonic clock. */
  readonly lost: { readonly error: PartnerError; readonly at: number } | undefined;
}

export function createStanding(clock: Clock): Standing {
  let lost: Standing['lost'];
  return {
    lose(error) {
      lost = { error, at: clock.now() };
    },
    restore() {
      lost = undefined;
    },
    get lost() {
      return lost;
    },
  };
}
