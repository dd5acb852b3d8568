import { createHmac } from 'node:crypto';

import * as fc from 'fast-check';

import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { Gateway } from '../gateway.ts';
import { type Json, assessments, delivery, uuid } from '../events/deliveries.ts';
import type { Poster } from './http.ts';
import { anyValue } from './values.ts';

const TYPES = [
  'progress_note_generated',
  'progress_note_regenerated',
  'progress_note_finalized',
  'transcript_ready',
  'session_transcript_error',
  'mdm_elements_identified',
] as const;

/** Events as they are sent, with a field changed, dropped or added here and there. */
function deliveries(sandbox: Sandbox): fc.Arbitrary<unknown> {
  const whole: fc.Arbitrary<Json> = fc.oneof(
    fc.constantFrom(...TYPES).map((type) => delivery(type)),
    fc.nat(3).map((count): Json => assessments(uuid(), Array.from({ length: count }, uuid))),
  );
  const names = ['sessionId', 'clientId', 'clinicianId', 'clinicId', 'organizationId', 'error'];
  const more = ['progressNoteId', 'mdmId', 'patientId', 'assessmentScores', 'sessionExternalId'];
  const name = fc.constantFrom(...names, ...more, '__proto__', 'constructor');
  const changes = fc.array(fc.tuple(name, anyValue(sandbox)), { maxLength: 2 });
  const outer = fc.dictionary(
    fc.constantFrom('eventType', 'timeStamp', 'payload', 'x'),
    anyValue(sandbox),
    { maxKeys: 1 },
  );
  return fc.tuple(whole, changes, outer).map(([event, changed, around]) => ({
    ...event,
    payload: { ...(event['payload'] as Json), ...Object.fromEntries(changed) },
    ...around,
  }));
}

/** Any webhook is accepted, quarantined or rejected: never with a 5xx, and never with a body. */
export function webhookProperty({ sandbox }: Gateway, { send }: Poster) {
  const { clientSecret } = sandbox.connection;
  const body = fc.oneof(
    {
      weight: 4,
      arbitrary: deliveries(sandbox).map((event) => Buffer.from(JSON.stringify(event))),
    },
    { weight: 1, arbitrary: fc.json().map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array().map((bytes) => Buffer.from(bytes)) },
  );
  const signature = fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    fc.stringMatching(/^[\x21-\x7e]{1,80}$/),
  );
  return fc.asyncProperty(body, signature, async (bytes, forged) => {
    const mac = createHmac('sha256', clientSecret).update(bytes).digest('hex');
    const { status, text } = await send('/webhooks', bytes, { 'x-signature': forged ?? mac });
    const allowed = forged === undefined ? [200, 400] : [401];
    if (!allowed.includes(status) || text !== '') throw new Error(`webhook: ${status} "${text}"`);
  });
}
