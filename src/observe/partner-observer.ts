import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

interface Attempt {
  readonly route: string;
  readonly status: number | undefined;
  readonly outcome: string;
  readonly durationMs: number;
}

/** What the REST side tells, as numbers and, where somebody should look, lines. */
export function partnerObserver(log: Log, metrics: Metrics) {
  return {
    attempt: ({ route, status, outcome, durationMs }: Attempt) =>
      metrics.upstreamCall(route, status ?? outcome, durationMs),
    unreadableRows: (route: string, count: number) =>
      log.warn('rows without a usable id were left out', { route, count }),
    breakerChanged: (state: string) => log.warn(`the circuit to the Partner API is ${state}`),
    tokenRenewalFailed: (code: string) =>
      log.warn('the partner token could not be renewed', { code }),
  };
}

interface PartnerState {
  readonly queued: number;
  readonly inFlight: number;
  readonly tokenAgeSeconds: number | undefined;
  readonly callsToday: number;
  readonly quotaRemaining: number | undefined;
}

export function watchPartner(partner: { state(): PartnerState }, metrics: Metrics): void {
  metrics.watch('upstreamQueue', () => partner.state().queued);
  metrics.watch('upstreamInFlight', () => partner.state().inFlight);
  metrics.watch('tokenAgeSeconds', () => partner.state().tokenAgeSeconds);
  metrics.watch('quotaUsed', () => partner.state().callsToday);
  metrics.watch('quotaRemaining', () => partner.state().quotaRemaining);
}
