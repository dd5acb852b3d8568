import { arrange, byId, el } from '../dom.js';
import { ask, Unreachable } from '../graphql.js';
import { EVENTS, SESSIONS_OF } from '../operations.js';
import { scopeOf } from '../route.js';
import { sessionRow } from './session-row.js';
import { createSessions } from './sessions.js';
import { subscribe } from '../subscribe.js';
import { countWords, nameOf } from '../words.js';

const RETRY_MS = 2_000;
const INVALID_LINK =
  'This link leads to no record, or to one that you may not see. Choose a clinician from the list.';

/** The sessions of a clinic, a clinician or a client: read once, then kept up to date by events. */
export function createFeed({ onEvent, onState, onRefused, onFailure, onTitle }) {
  const [title, hint, list, more] = ['feed-title', 'feed-hint', 'sessions', 'more'].map(byId);
  const sessions = createSessions();
  let route = {};
  let scope;
  let subscription;
  let retry;
  let frame;
  let next;
  let pages = 0;
  let total = 0;
  let clientsRead = 0;
  /** Increased for each scope: a response to an earlier one is ignored. */
  let turn = 0;

  async function show(wanted) {
    close();
    route = wanted;
    scope = scopeOf(route);
    sessions.clear();
    more.hidden = true;
    draw();
    title.textContent = 'Sessions';
    hint.textContent = 'Loading …';
    onState('connecting');
    const { cursor, record } = await read();
    if (!cursor) return;
    if (!record) {
      onState('idle');
      return explain('Link not valid', INVALID_LINK);
    }
    title.textContent = record.name ?? nameOf(record);
    onTitle(title.textContent);
    listen(cursor);
  }

  /** Instead of a list. */
  function explain(heading, text) {
    sessions.clear();
    more.hidden = true;
    draw();
    title.textContent = heading;
    hint.textContent = text;
    byId('feed-tabs').hidden = true;
    onTitle(heading);
  }

  async function read(after) {
    const asked = turn;
    const variables = {
      clinic: route.clinic,
      clinician: route.clinician,
      list: route.list,
      after,
    };
    const { eventCursor, scope: record } = (await ask(SESSIONS_OF[scope.kind], variables)).data;
    if (asked !== turn) return {};
    if (after === undefined) {
      sessions.clear();
      pages = 0;
      clientsRead = 0;
    }
    pages += 1;
    // A record that is known by its id only has no lists.
    const page = record?.clients ?? record?.sessions;
    if (!page) return { cursor: eventCursor };
    const clients = record.clients ? page.nodes : [{ ...record, sessions: page }];
    for (const client of clients)
      for (const session of client.sessions?.nodes ?? []) sessions.read(client, session);
    clientsRead += clients.length;
    total = page.totalCount;
    next = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined;
    more.hidden = next === undefined;
    more.textContent = scope.kind === 'client' ? 'Show more sessions' : 'Show more clients';
    draw();
    hint.textContent = hintWords();
    return { cursor: eventCursor, record };
  }

  function hintWords() {
    const order = sessions.isNewestFirst() ? ', newest first' : '';
    if (scope.kind === 'client') {
      const count = sessions.all().length;
      return `${next ? `${count} of ` : ''}${countWords(total, 'session')}${order}`;
    }
    const of = next ? `${clientsRead} of ` : '';
    const whose = scope.kind === 'clinic' ? 'All clinicians. ' : '';
    return `${whose}Sessions of ${of}${countWords(total, 'client')}${order}. New notes appear here by themselves.`;
  }

  function listen(cursor) {
    subscription = subscribe({
      query: EVENTS,
      variables: { filter: scope.filter },
      cursor,
      pick: (data) => data.events,
      onEvent: apply,
      onState,
      // The log no longer has what came after our cursor: read everything again, and go on from there.
      onExpired: () => resync().catch(onFailure),
      onRefused,
    });
  }

  /** Reads as many pages as were open, then subscribes after the cursor of the first one. */
  async function resync() {
    const open = pages;
    onState('connecting');
    try {
      const { cursor, record } = await read();
      if (!record) return;
      while (next && pages < open) await read(next);
      listen(cursor);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      onState('waiting');
      retry = setTimeout(() => void resync().catch(onFailure), RETRY_MS);
    }
  }

  function apply(event) {
    sessions.apply(event);
    // What is open is not new.
    if (route.session) sessions.markRead(route.session);
    // Once a frame: a replay after a night may bring thousands of events.
    frame ??= requestAnimationFrame(draw);
    onEvent(event);
  }

  function draw() {
    frame = undefined;
    const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
    const items = sessions.all().map((row) => {
      const look = JSON.stringify([row, row.id === route.session]);
      const item = known.get(row.id);
      if (item?.dataset.look === look) return item;
      const entry = sessionRow(row, route, scope);
      // In place, so that the focus stays on what has it.
      const fresh = item ?? el('li', { 'data-id': row.id });
      const hadFocus = fresh.contains(document.activeElement);
      fresh.replaceChildren(entry);
      if (hadFocus) entry.focus();
      fresh.dataset.look = look;
      return fresh;
    });
    arrange(list, items);
  }

  function close() {
    turn += 1;
    clearTimeout(retry);
    subscription?.close();
    subscription = undefined;
  }

  more.addEventListener('click', () => void read(next).catch(onFailure));

  return {
    show,
    close,
    mark(wanted) {
      route = wanted;
      if (route.session) sessions.markRead(route.session);
      draw();
    },
    explain,
    /** What is open knows more: that a note is being rewritten, or why there is none. */
    setStatus(id, status) {
      sessions.setStatus(id, status);
      draw();
    },
  };
}
