import { readFile } from 'node:fs/promises';

import type { Content } from './served-file.ts';

/** Only this origin's scripts and styles, and nothing inline: a note's text can never run. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const ASSETS = [
  'styles/base.css',
  'components/clients.js',
  'components/detail.js',
  'dom.js',
  'components/edit-form.js',
  'components/feed.js',
  'graphql.js',
  'icon.svg',
  'styles/layout.css',
  'styles/lists.css',
  'main.js',
  'components/note-view.js',
  'styles/note.css',
  'operations.js',
  'components/picker.js',
  'route.js',
  'components/session-row.js',
  'components/sessions.js',
  'styles/side-panel.css',
  'components/side-panel.js',
  'components/sign-in.js',
  'subscribe.js',
  'styles/top.css',
  'words.js',
] as const;

function fileOf(name: string): Content {
  return {
    type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    load: () => readFile(new URL(`../../web/${name}`, import.meta.url)),
    headers: { 'content-security-policy': POLICY },
  };
}

export interface PageOptions {
  /** Whether the page asks for a token before its first request. */
  readonly needsToken: boolean;
  /** Whether the page says that all people are made up. */
  readonly isSandbox: boolean;
}

/** The Live notes page and its files, by path. */
export function liveNotesFiles({
  needsToken,
  isSandbox,
}: PageOptions): Readonly<Record<string, Content>> {
  const page = fileOf('index.html');
  const load = async () => {
    const html = (await page.load()).toString();
    return Buffer.from(
      html
        .replace('data-auth="open"', `data-auth="${needsToken ? 'token' : 'open'}"`)
        .replace('data-data="real"', `data-data="${isSandbox ? 'made-up' : 'real'}"`),
    );
  };
  return {
    '/': { ...page, load },
    ...Object.fromEntries(ASSETS.map((name) => [`/assets/${name}`, fileOf(name)])),
  };
}
