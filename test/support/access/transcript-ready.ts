import { randomUUID } from 'node:crypto';

import type { WebhookEvent } from '../../../sandbox/sandbox.ts';

/** An event of a session, with new ids for those that are not given. */
export const transcriptReady = (ids: Readonly<Record<string, string>>): WebhookEvent => ({
  eventType: 'transcript_ready',
  timeStamp: new Date().toISOString(),
  payload: {
    sessionId: randomUUID(),
    clientId: randomUUID(),
    clinicianId: randomUUID(),
    clinicId: randomUUID(),
    organizationId: randomUUID(),
    ...ids,
  },
});
