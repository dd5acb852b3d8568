import { isDeepStrictEqual } from 'node:util';

import type { Child } from './child.ts';
import { WORKLOADS, type Workload, requestBody } from './workloads.ts';

/** Where to ask, and as whom. */
export interface Server {
  readonly name: string;
  readonly child: Child;
  readonly path: (workload: Workload) => string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How long a server's answer to each workload is: ids are all of one length. */
export type AnswerBytes = Readonly<Record<Workload, number>>;

/** The data of one answer, whatever else comes with it, and the length of it all. */
export async function answerOf(
  { name, child, path, headers }: Server,
  workload: Workload,
  body = requestBody(workload, 'hot', 0),
): Promise<{ data: unknown; bytes: number }> {
  const response = await fetch(`${child.url}${path(workload)}`, { method: 'POST', headers, body });
  const text = await response.text();
  const { data, errors } = JSON.parse(text) as { data?: unknown; errors?: unknown };
  if (errors || !data) throw new Error(`${name} must answer ${workload} with data, but did not`);
  return { data, bytes: Buffer.byteLength(text) };
}

/** A server that answers something else than the gateway would be compared with nothing. */
export async function checkedAnswers(server: Server, gateway: Server): Promise<AnswerBytes> {
  const bytes: [Workload, number][] = [];
  for (const workload of WORKLOADS) {
    const wanted = await answerOf(gateway, workload);
    const given = await answerOf(server, workload);
    if (!isDeepStrictEqual(given.data, wanted.data))
      throw new Error(`${server.name} must answer ${workload} as the gateway does, but did not`);
    bytes.push([workload, given.bytes]);
  }
  return Object.fromEntries(bytes) as AnswerBytes;
}
