import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { type TracedCall, traceCall } from './tracing.ts';

/** What the REST side tells, as numbers and, where somebody should look, lines. */
export function partnerObserver(log: Log, metrics: Metrics) {
  return {
    attempt(attempt: TracedCall): void {
      metrics.upstreamCall(attempt.route, attempt.status ?? attempt.outcome, attempt.durationMs);
      traceCall(attempt);
    },
    unreadableRows: (route: string, count: number) =>
      log.warn('rows without a usable id were left out', { route, count }),
    otherRecord: (route: string) =>
      log.warn('an answer was about another record than the one asked for', { route }),
    breakerChanged: (state: string, route: string) =>
      log.warn(`the circuit to the Partner API is ${state}`, { route }),
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
