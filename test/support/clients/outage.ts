import type { Restarting } from './restarts.ts';

export const EVENTS_OF_CLIENT = `subscription($after: EventCursor, $filter: EventFilter) {
  events(after: $after, filter: $filter) { cursor type } }`;

export const NOTES = `subscription($after: EventCursor) {
  noteReady(after: $after) { cursor progressNote { id note } } }`;

/** Emits the event of a note that can't be read when the event is delivered. */
export function finishUnreadableNote({ sandbox }: Restarting): void {
  sandbox.answerNext('*', { status: 503, times: 3 });
  sandbox.burst(1);
}

/** Makes the next subscription of a viewer of clinic 0 to client 0 fail: the gateway can't check access. */
export async function failNextAccessCheck(gateway: Restarting) {
  const { ids, answerNext } = gateway.sandbox;
  const { eventCursor } = (await gateway.query('{ eventCursor organizations { totalCount } }'))
    .data;
  answerNext('*', { status: 503, times: 3 });
  return {
    grants: [`clinic:${ids.clinic(0)}`],
    variables: {
      after: eventCursor as string,
      filter: { clientId: ids.client(0), clinicId: ids.clinic(0) },
    },
  };
}
