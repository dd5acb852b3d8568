import type { Log } from './log.ts';
import type { Metrics, WebhookRefusal } from './metrics.ts';

/** What comes of webhooks, in numbers; only what an operator has to act on is a line. */
export function ingestObserver(log: Log, metrics: Metrics) {
  return {
    accepted: () => metrics.eventsAccepted(),
    copy: () => metrics.eventCopies(),
    quarantined: () => {
      metrics.eventsQuarantined();
      log.warn('a signed webhook was not understood and is in quarantine');
    },
    badTimestamp: () => log.warn('a webhook came without a usable time stamp'),
    refused: (reason: WebhookRefusal) => metrics.webhookRefused(reason),
    failed: (error: unknown) => log.error('a webhook could not be kept', { error }),
  };
}
