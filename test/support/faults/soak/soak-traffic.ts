import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { post, tokenFor } from '../../gateway.ts';
import { recordIdsIn } from '../../leak/record-ids.ts';

/** Clients are assigned to the first clinic's clinicians in turn. */
const SHARING = 13;
export const clinicianOf = (client: number): number => client % SHARING;

export interface Traffic {
  readonly asked: number;
  readonly answered: number;
  readonly edited: number;
  /** Records that were returned to a viewer who may not read them. */
  readonly leaked: number;
  stop(): Promise<void>;
}

const WALK = `{ viewer { clinicians { clients(first: 20) { nodes { clientId firstName
  sessions(first: 2) { nodes { sessionId raw progressNote { progressNoteId note } } } } } } } }`;
const LOOK_UP = `query($client: ID!, $session: ID!, $note: ID!) { client(id: $client) { clientId firstName raw }
  session(id: $session, clientId: $client) { sessionId raw } progressNote(id: $note) { progressNoteId note } }`;
const EDIT = `mutation($note: ID!, $session: ID!, $client: ID!, $key: String!) { magicEdit(input: {
  progressNoteId: $note, sessionId: $session, clientId: $client, userInstructions: "Shorter.", idempotencyKey: $key }) {
    __typename ... on ProgressNoteChange { progressNote { progressNoteId note } } } }`;

const any = (below: number): number => Math.floor(Math.random() * below);

/** Two viewers who query and edit their own records and try the other's. */
export function startTraffic(
  url: () => string,
  { ids }: Sandbox,
  clinicians: readonly number[],
): Traffic {
  const stopping = new AbortController();
  const count = { asked: 0, answered: 0, edited: 0, leaked: 0 };
  const owners = new Map<string, number>();
  for (let client = 0; client < 10 * SHARING; client += 1) {
    owners.set(ids.client(client), clinicianOf(client));
    for (let nth = 0; nth < 5; nth += 1) {
      owners.set(ids.session(client, nth), clinicianOf(client));
      owners.set(ids.note(client, nth), clinicianOf(client));
    }
  }

  async function ask(clinician: number): Promise<void> {
    const subject = `clinician ${clinician}`;
    const token = await tokenFor([`clinician:${ids.clinician(clinician)}`], { subject });
    const client = clinicians[any(clinicians.length)]! + SHARING * any(3);
    const variables = {
      client: ids.client(client),
      session: ids.session(client, any(3)),
      note: ids.note(client, any(3)),
      key: randomUUID(),
    };
    const query = [WALK, LOOK_UP, LOOK_UP, EDIT][any(4)]!;
    count.asked += 1;
    const answer = await post(url(), { query, variables }, { authorization: `Bearer ${token}` });
    count.answered += 1;
    if (query === EDIT && answer.data?.magicEdit) count.edited += 1;
    for (const id of recordIdsIn(answer.data ?? null)) {
      if (owners.has(id) && owners.get(id) !== clinician) count.leaked += 1;
    }
  }

  async function run(clinician: number): Promise<void> {
    while (!stopping.signal.aborted) {
      // Servers restart: a query without a response is sent again.
      await ask(clinician).catch(() => undefined);
      await setTimeout(20);
    }
  }

  const running = Promise.all(clinicians.map(run));
  return {
    get asked() {
      return count.asked;
    },
    get answered() {
      return count.answered;
    },
    get edited() {
      return count.edited;
    },
    get leaked() {
      return count.leaked;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
