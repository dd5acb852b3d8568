/** What an event says to a subscription, ready for the wire: made once, however many sockets get it. */
export interface Payload {
  /** What follows `"payload":` in a graphql-ws message, the message's own closing brace included. */
  readonly messageTail: Buffer;
  /** The same as a server-sent event. */
  readonly streamEvent: Buffer;
  /** Which records it shows, for the audit of each who gets it. */
  readonly shows: readonly string[];
}

const BEFORE = Buffer.from('event: next\ndata: ');
const AFTER = Buffer.from('\n\n');

export function createPayload(result: unknown, shows: readonly string[] = []): Payload {
  const messageTail = Buffer.from(`${JSON.stringify(result)}}`);
  let streamEvent: Buffer | undefined;
  return {
    messageTail,
    shows,
    get streamEvent() {
      // JSON has no line break in it, so one `data:` line holds it all.
      streamEvent ??= Buffer.concat([BEFORE, messageTail.subarray(0, -1), AFTER]);
      return streamEvent;
    },
  };
}
