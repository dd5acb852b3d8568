import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

import { describe, expect, it } from 'vitest';

import { createPayload } from '../../src/gateway/payload.ts';
import { writeFrame } from '../../src/gateway/ws-frame.ts';

const headOf = (id: string) => `{"id":${JSON.stringify(id)},"type":"next","payload":`;
const payload = createPayload({ data: { note: 'x'.repeat(2_000) } });

/** Both ends of so many connections. Nothing is read until somebody asks. */
async function openPairs(count: number) {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const pairs: { readonly ours: Socket; readonly theirs: Socket }[] = [];
  for (let i = 0; i < count; i += 1) {
    const theirs = connect(port, '127.0.0.1').pause();
    const [ours] = (await once(server, 'connection')) as [Socket];
    pairs.push({ ours, theirs });
  }
  return {
    pairs,
    [Symbol.dispose]() {
      for (const { ours, theirs } of pairs) {
        ours.destroy();
        theirs.destroy();
      }
      server.close();
    },
  };
}

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The ids of the messages in it, in order. */
const idsIn = (text: string) =>
  [
    ...text.matchAll(/\{"id":"([^"]*)","type":"next","payload":\{"data":\{"note":"x{2000}"\}\}\}/g),
  ].map(([, id]) => id);

describe('the frame of an event', () => {
  it('carries the id of each socket, whatever their lengths', async () => {
    using opened = await openPairs(5);
    const ids = ['one', 'two', 'four', 'drei', 'fünf'];
    opened.pairs.forEach(({ ours }, i) => writeFrame(ours, headOf(ids[i] ?? ''), payload));
    const got = opened.pairs.map(async ({ ours, theirs }) => {
      ours.end();
      return idsIn(await textOf(theirs));
    });
    expect(await Promise.all(got)).toEqual(ids.map((id) => [id]));
  });

  it('stays as it is while a socket has not taken it, whoever gets the event next', async () => {
    using opened = await openPairs(2);
    const [slow, quick] = opened.pairs;
    if (!slow || !quick) throw new Error('two connections are wanted');
    const toSlow = () => writeFrame(slow.ours, headOf('slow-'), payload);
    let written = 1;
    for (; slow.ours.writableLength === 0; written += 1) toSlow();
    // Of the one before, the system may have taken the head already.
    toSlow();
    writeFrame(quick.ours, headOf('quick'), payload);
    slow.ours.end();
    quick.ours.end();
    const [ofSlow, ofQuick] = await Promise.all([textOf(slow.theirs), textOf(quick.theirs)]);
    expect(idsIn(ofSlow)).toEqual(Array.from({ length: written }, () => 'slow-'));
    expect(idsIn(ofQuick)).toEqual(['quick']);
  });
});
