import { parse, validate } from 'graphql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { examples } from '../../src/pages/graphiql-examples.ts';
import { schema } from '../../src/schema/schema.ts';
import { type Watched, openBrowser, openPage } from '../support/browser.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';

const nameOf = (query: string) => /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? '';
const names = examples.map(({ query }) => nameOf(query));

it.each(examples)('has an example that the schema knows: $query', ({ query }) => {
  expect(validate(schema, parse(query))).toEqual([]);
});

it('serves a small page under a policy that lets nothing else in', async () => {
  await using gateway = await openGateway();
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
  let browser: Browser;
  let gateway: Gateway;
  let watched: Watched;
  let page: Page;
  const answer = (text: string) => page.locator('.result-window').getByText(text).first();

  beforeAll(async () => {
    [browser, gateway] = await Promise.all([openBrowser(), openGateway()]);
    watched = await openPage(browser, { width: 1440, height: 900 });
    page = watched.page;
    await page.goto(`${gateway.url}/graphql`);
    await page.getByRole('tab', { name: names[0]! }).waitFor();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await gateway.close();
  });

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

  it('runs a query with what stands in its headers', async () => {
    await openTab('Clients');
    await giveToken();
    await page.getByRole('button', { name: /execute/i }).click();
    await answer('"totalCount"').waitFor();
  });

  it('runs a subscription with them, and shows an event', async () => {
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

  it('keeps what is typed out of the address, and tokens out of the storage', async () => {
    expect(page.url()).toBe(`${gateway.url}/graphql`);
    const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])');
    expect(kept).not.toContain('Bearer');
  });

  it('asks no other host for anything, workers and fonts included', () => {
    expect([...watched.hosts]).toEqual([new URL(gateway.url).host]);
    // The first look at the schema comes before anybody could give a token.
    expect(watched.problems.filter((text) => !text.includes('401'))).toEqual([]);
  });
});
