import type { Locator } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

import { type WatchOptions, type Watched, openPage } from './browser.ts';
import { type Gateway, openGateway, tokenFor } from './gateway.ts';

export interface LiveNotes extends Watched {
  readonly rows: Locator;
  /** The row of one client's newest session. */
  rowOf(client: string): Locator;
  /** Resolves once the page follows the events. */
  live(): Promise<void>;
  nameOf(nth: number): Promise<string>;
  /** Opens a link to the page, which has its state after the `#`. */
  follow(parts: Readonly<Record<string, string>>): Promise<void>;
  /** By a link, the latest session of a client of the first clinic. */
  openSession(client: number): Promise<void>;
}

/** A server of the page: in this process, or in a separate one that can be killed. */
export type Serving = Pick<Gateway, 'url' | 'query' | 'sandbox'>;

/** The front page in a tab, signed in. */
export async function openLiveNotes(
  gateway: Serving,
  options: WatchOptions = {},
): Promise<LiveNotes> {
  const watched = await openPage(options);
  const { page } = watched;
  const token = await tokenFor(['partner']);
  await page.addInitScript(`sessionStorage.setItem('live-notes-token', '${token}')`);
  await page.goto(gateway.url);
  const rows = page.locator('#sessions a');
  const { ids } = gateway.sandbox;
  const follow = async (parts: Readonly<Record<string, string>>) =>
    void (await page.goto(`${gateway.url}/#${new URLSearchParams(parts).toString()}`));
  return {
    ...watched,
    rows,
    rowOf: (client) => rows.filter({ hasText: client }).first(),
    live: () => page.locator('#state[data-state=live]').waitFor(),
    nameOf: (nth) => nameOfClient(gateway, nth),
    follow,
    openSession: (nth) =>
      follow({ clinic: ids.clinic(0), client: ids.client(nth), session: ids.session(nth, 0) }),
  };
}

/** One gateway and one tab for all tests of a block. */
export function shareLiveNotes(use: (gateway: Gateway, notes: LiveNotes) => void): void {
  let gateway: Gateway;
  let notes: LiveNotes;
  beforeAll(async () => {
    gateway = await openGateway();
    notes = await openLiveNotes(gateway);
    await notes.live();
    use(gateway, notes);
  });
  afterAll(async () => {
    await notes?.close();
    await gateway?.close();
  });
}

export async function nameOfClient(gateway: Serving, nth: number): Promise<string> {
  const { data } = await gateway.query(
    `query ($id: ID!) { client(id: $id) { firstName lastName } }`,
    { id: gateway.sandbox.ids.client(nth) },
  );
  return `${data.client.firstName} ${data.client.lastName}`;
}

export async function nameOfClinician(gateway: Serving, nth: number): Promise<string> {
  const { data } = await gateway.query(
    `query ($id: ID!) { clinician(id: $id) { firstName lastName } }`,
    { id: gateway.sandbox.ids.clinician(nth) },
  );
  return `${data.clinician.firstName} ${data.clinician.lastName}`;
}
