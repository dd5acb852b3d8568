import { createHmac, randomUUID } from 'node:crypto';
import type { EventType } from '../../../src/events/partner-event.ts';
import { toUuid, type Uuid } from '../../../src/uuid.ts';

export function uuid(): Uuid {
  const made = toUuid(randomUUID());
  if (made === undefined) throw new Error('randomUUID made no UUID');
  return made;
}

export type SessionType = Exclude<EventType, 'assessment_completed'>;
export type Json = Readonly<Record<string, unknown>>;

export const SENT_AT = '2025-05-06T07:08:09.123Z';

/** A delivery as the API documents it, any field of its payload changed or (undefined) omitted. */
export const delivery = (
  eventType: SessionType,
  payload: Json = {},
  envelope: Json = {},
): Json => ({
  eventType,
  timeStamp: SENT_AT,
  payload: {
    sessionId: uuid(),
    sessionExternalId: 'visit-1',
    clientId: uuid(),
    clinicianId: uuid(),
    clinicId: uuid(),
    organizationId: uuid(),
    ...extraOf(eventType),
    ...payload,
  },
  ...envelope,
});

export const assessments = (patientId: Uuid, scoreIds: readonly string[], payload: Json = {}) => ({
  eventType: 'assessment_completed',
  timeStamp: SENT_AT,
  payload: {
    patientId,
    assessmentScores: scoreIds.map((id) => ({
      id,
      assessmentId: 'phq-9',
      assessmentScoreUrl: `https://api.example.com/v2/assessment-scores/${id}`,
    })),
    ...payload,
  },
});

export const bytesOf = (json: unknown): Buffer => Buffer.from(JSON.stringify(json));

export const macOf = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');

function extraOf(type: SessionType): Json {
  if (type === 'transcript_ready') return {};
  if (type === 'session_transcript_error') return { error: 'no speech was found' };
  if (type === 'mdm_elements_identified') return { mdmId: uuid() };
  return { progressNoteId: uuid() };
}
