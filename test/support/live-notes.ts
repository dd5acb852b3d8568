import type { Locator } from 'playwright-core';

import { type WatchOptions, type Watched, openPage } from './browser.ts';
import { type Gateway, tokenFor } from './gateway.ts';

export interface LiveNotes extends Watched {
  readonly rows: Locator;
  /** The row of one client's newest session. */
  rowOf(client: string): Locator;
  /** Resolves once the page follows the events. */
  live(): Promise<void>;
  nameOf(nth: number): Promise<string>;
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
  return {
    ...watched,
    rows,
    rowOf: (client) => rows.filter({ hasText: client }).first(),
    live: () => page.locator('#state[data-state=live]').waitFor(),
    nameOf: (nth) => nameOfClient(gateway, nth),
  };
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
