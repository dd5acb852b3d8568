import { readFile } from 'node:fs/promises';

import type { Content } from './served-file.ts';

/** This origin's own scripts and styles, and nothing inline: what stands in a note can never run. */
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
  'base.css',
  'beside.css',
  'beside.js',
  'chip.js',
  'detail.js',
  'dom.js',
  'edit-form.js',
  'feed.js',
  'graphql.js',
  'icon.svg',
  'layout.css',
  'lists.css',
  'live.js',
  'main.js',
  'note-view.js',
  'note.css',
  'operations.js',
  'picker.js',
  'route.js',
  'sessions.js',
  'sign-in.js',
  'top.css',
  'words.js',
] as const;

function fileOf(name: string): Content {
  return {
    type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    load: () => readFile(new URL(`../../web/${name}`, import.meta.url)),
    headers: { 'content-security-policy': POLICY },
  };
}

/** The front page and its parts, by path. Where a token is needed the page asks for it first, not after a refusal. */
export function liveNotesFiles(needsToken: boolean): Readonly<Record<string, Content>> {
  const page = fileOf('index.html');
  const load = async () => {
    const html = (await page.load()).toString();
    return Buffer.from(needsToken ? html.replace('data-auth="open"', 'data-auth="token"') : html);
  };
  return {
    '/': { ...page, load },
    ...Object.fromEntries(ASSETS.map((name) => [`/assets/${name}`, fileOf(name)])),
  };
}
