import { parse, validate } from 'graphql';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { schema } from '../../src/schema/schema.ts';
import { type Watched, openPage } from '../support/browser.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';

const { examples } = (await import(
  new URL('../../web/graphiql/examples.js', import.meta.url).href
)) as { readonly examples: readonly { readonly query: string; readonly variables?: string }[] };
const nameOf = (query: string) => /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? '';
const names = examples.map(({ query }) => nameOf(query));

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());

it.each(examples)('has an example that is valid: $query', ({ query }) => {
  expect(validate(schema, parse(query))).toEqual([]);
});

it('has comments that fit a window of 1280 pixels', () => {
  const comments = examples.flatMap(({ query }) => query.match(/^#.*$/gm) ?? []);
  expect(comments.filter((line) => line.length > 42)).toEqual([]);
});

it('edits a note by its global id, as often as the example is run', async () => {
  const [clients, edit] = examples;
  const { data } = await gateway.query(clients!.query);
  const found = data.organizations.nodes[0].clinics.nodes[0].clients.nodes;
  for (const nth of [0, 1]) {
    const noteId = found[nth].sessions.nodes[0].progressNote.id;
    const variables = { ...JSON.parse(edit!.variables ?? '{}'), noteId };
    const answer = await gateway.query(edit!.query, variables);
    expect(answer.data.magicEdit).toMatchObject({ __typename: 'ProgressNoteChange' });
  }
  expect(edit!.query).toContain('issues');
});

it('says in the example what the variable is, and where to find it', () => {
  const [, edit] = examples;
  expect(JSON.parse(edit!.variables ?? '{}')).toEqual({ noteId: '<id of a progressNote>' });
  const comment = edit!.query.match(/^#.*$/gm)?.join(' ').replaceAll(' # ', ' ');
  expect(comment).toContain(`First run the tab "${names[0]}", and copy the id of a progressNote`);
});

it('serves a small page with a strict content security policy', async () => {
  const response = await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } });
  const policy = response.headers.get('content-security-policy') ?? '';
  expect((await response.text()).length).toBeLessThan(2_000);
  expect(policy).toContain("script-src 'self';");
  expect(
    policy.replaceAll(
      /'self'|'none'|'unsafe-inline'|data:|[a-z-]+-(src|uri|action|ancestors)|;|\s/g,
      '',
    ),
  ).toBe('');
});

describe.skipIf(process.env['SKIP_CHROMIUM'])('GraphiQL in a browser', { timeout: 60_000 }, () => {
  let watched: Watched;
  let page: Page;
  const answer = (text: string) => page.locator('.result-window').getByText(text).first();

  beforeAll(async () => {
    watched = await openPage({ width: 1440, height: 900 });
    page = watched.page;
    await page.goto(`${gateway.url}/graphql`);
    await page.getByRole('tab', { name: names[0]! }).waitFor();
  }, 60_000);
  afterAll(() => watched.close());

  const box = (selector: string) => page.locator(selector).boundingBox();
  const openTab = (name: string) => page.getByRole('tab', { name }).click();
  async function giveToken(): Promise<void> {
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('section[aria-label="Headers"], .graphiql-editor-tool').last().click();
    await page.keyboard.insertText(
      JSON.stringify({ authorization: `Bearer ${await tokenFor(['partner'])}` }),
    );
  }

  it('opens with an example in every tab', async () => {
    for (const name of names) expect(await page.getByRole('tab', { name }).count()).toBe(1);
  });

  it('changes the tab at the first click', async () => {
    const tab = page.getByRole('tab', { name: 'Edit' });
    await tab.click();
    await expect.poll(() => tab.getAttribute('aria-selected')).toBe('true');
  });

  it('says where the token goes, and loads the schema once it is there', async () => {
    await page.getByText('This server needs a token.').waitFor();
    await openTab('Clients');
    await giveToken();
    await page.locator('#token-notice').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /documentation/i }).click();
    await page.getByRole('link', { name: 'Subscription', exact: true }).waitFor();
    await page.getByRole('button', { name: /documentation/i }).click();
  });

  it('runs a query with the token in the headers editor', async () => {
    await page.getByRole('button', { name: /execute/i }).click();
    await answer('"totalCount"').waitFor();
  });

  it('runs a subscription with it, and shows an event', async () => {
    await openTab('Live');
    await giveToken();
    await page.getByRole('button', { name: /execute/i }).click();
    await page.getByRole('button', { name: /stop/i }).waitFor();
    await expect
      .poll(
        async () => {
          gateway.sandbox.startSession(gateway.sandbox.ids.client(3));
          return answer('PROGRESS_NOTE_GENERATED').count();
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(1);
    await page.getByRole('button', { name: /stop/i }).click();
  });

  it('keeps input out of the address, and tokens out of the storage', async () => {
    expect(page.url()).toBe(`${gateway.url}/graphql`);
    const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])');
    expect(kept).not.toContain('Bearer');
  });

  it('shows the same tabs after a reload', async () => {
    const tabs = page.getByRole('tab');
    // Any request makes GraphiQL store its tabs.
    await page.waitForFunction(`localStorage.getItem('graphiql:tabState')`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await tabs.first().waitFor();
    expect(await tabs.allInnerTexts()).toEqual(names);
  });

  it('fits a phone: the response is below the query', async () => {
    const [editors, response, settings] = await Promise.all([
      box('.graphiql-editors'),
      box('.graphiql-response'),
      page.getByRole('button', { name: /settings/i }).boundingBox(),
    ]);
    expect(editors?.width).toBeGreaterThan(300);
    expect(response?.y).toBeGreaterThanOrEqual(editors!.y + editors!.height - 1);
    expect(response!.y + response!.height).toBeLessThanOrEqual(844);
    expect(settings!.y + settings!.height).toBeLessThanOrEqual(844);
  });

  it('scrolls in a low window instead of overlapping', async () => {
    // 1280 × 800 at a zoom of 200 %.
    await page.setViewportSize({ width: 640, height: 400 });
    const [tools, response] = await Promise.all([
      box('.graphiql-editor-tools'),
      box('.graphiql-response'),
    ]);
    expect(response?.y).toBeGreaterThanOrEqual(tools!.y + tools!.height);
  });

  it('leads to live notes on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('link', { name: 'Live notes' }).click();
    await page.getByLabel('Access token').waitFor();
  });

  it('contacts no other host, workers and fonts included', () => {
    expect([...watched.hosts]).toEqual([new URL(gateway.url).host]);
    // The first request for the schema comes before there can be a token.
    expect(watched.problems.filter((text) => !text.includes('401'))).toEqual([]);
  });
});
