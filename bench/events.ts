import { createHmac } from 'node:crypto';

import { CLIENT_SECRET } from './gateway.ts';
import { idOf } from './world.ts';

export interface Delivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The `n`th note is ready: signed, and like no other. */
export function noteReady(n: number, clinician = 1): Delivery {
  const body = JSON.stringify({
    eventType: 'progress_note_generated',
    timeStamp: new Date(1_750_000_000_000 + n).toISOString(),
    payload: {
      sessionId: idOf('session', n),
      sessionExternalId: `s-${n}`,
      clientId: idOf('client', Math.floor(n / 16)),
      clinicianId: idOf('clinician', clinician),
      clinicId: idOf('clinic', 1),
      organizationId: idOf('organization', 1),
      progressNoteId: idOf('note', n),
      progressNoteUrl: `https://partner.example/v2/sessions/${idOf('session', n)}/progress-note`,
      organization: idOf('organization', 1),
    },
  });
  const signature = createHmac('sha256', CLIENT_SECRET).update(body).digest('hex');
  return { body, headers: { 'content-type': 'application/json', 'x-signature': signature } };
}
