import { type Browser, type Page, chromium } from 'playwright-core';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The first two are pages of the browser's own window, which take more CPU than ours. The rest are Playwright's.
  '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AimEnabled,HttpsUpgrades,LensOverlay,MediaRouter,OptimizationHints,PaintHolding',
];

let browser: Promise<Browser> | undefined;

/**
 * Debian's Chromium: the same everywhere the tests run, and nothing to download. All tests of a process share it, each
 * with contexts of its own. It ends with the process.
 */
const sharedBrowser = (): Promise<Browser> =>
  (browser ??= chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS }));

/** For scripts that end by themselves. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
}

export interface Watched {
  readonly page: Page;
  /** Errors in the console, and uncaught exceptions. */
  readonly problems: readonly string[];
  /** Every host that got a request. */
  readonly hosts: ReadonlySet<string>;
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly width?: number;
  readonly height?: number;
}

/** A new tab that records its requests and errors. */
export async function openPage(options: WatchOptions = {}): Promise<Watched> {
  const { width = 1280, height = 800 } = options;
  const chrome = await sharedBrowser();
  const context = await chrome.newContext({ viewport: { width, height } });
  // Under the test's own limit, so that the message names the step that did not happen.
  context.setDefaultTimeout(25_000);
  const page = await context.newPage();
  const problems: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('websocket', (socket) => hosts.add(new URL(socket.url()).host));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.protocol !== 'blob:') hosts.add(url.host);
  });
  return { page, problems, hosts, close: () => context.close() };
}
