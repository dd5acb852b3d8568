import { standingChip } from './chip.js';
import { byId, el, spoken } from './dom.js';
import { ask, Unreachable } from './graphql.js';
import { follow } from './live.js';
import { FOLLOW, RECENT } from './operations.js';
import { hrefOf } from './route.js';
import { createSessions } from './sessions.js';
import { momentWords, nameOf, plainWords } from './words.js';

const RETRY_MS = 2_000;

/** The sessions of one clinician's clients: read once, then kept up to date by events. */
export function createFeed({ onEvent, onState, onRefused, onFailure }) {
  const [title, hint, list, more] = ['feed-title', 'feed-hint', 'sessions', 'more'].map(byId);
  const sessions = createSessions();
  let route = {};
  let stream;
  let retry;
  let frame;
  let next;
  let pages = 0;
  /** One up for each clinician: an answer that was asked for an earlier one comes too late. */
  let turn = 0;

  /** Resolves once the list is there and the events are being followed. */
  async function show(wanted) {
    close();
    route = wanted;
    sessions.clear();
    draw();
    title.textContent = 'Sessions';
    hint.textContent = 'Loading …';
    const { cursor, clinician } = await readClients();
    if (!cursor) return;
    title.textContent = nameOf(clinician);
    listen(cursor);
  }

  async function readClients(after) {
    const asked = turn;
    const { eventCursor, clinician } = await ask(RECENT, {
      clinicianId: route.clinician,
      clinicId: route.clinic,
      after,
    });
    if (asked !== turn) return {};
    if (after === undefined) {
      sessions.clear();
      pages = 0;
    }
    pages += 1;
    const clients = clinician?.clients;
    for (const client of clients?.nodes ?? [])
      for (const session of client.sessions?.nodes ?? []) sessions.read(client, session);
    next = clients?.pageInfo.hasNextPage ? clients.pageInfo.endCursor : undefined;
    more.hidden = next === undefined;
    hint.textContent = clients ? countWords(clients.totalCount) : 'Nothing here that you may see.';
    draw();
    return { cursor: eventCursor, clinician };
  }

  function listen(cursor) {
    stream = follow({
      query: FOLLOW,
      variables: { clinicianId: route.clinician },
      cursor,
      pick: (data) => data.events,
      onEvent: heard,
      onState,
      // The log no longer holds what came after our cursor: read everything again, and go on from there.
      onLost: () => resync().catch(onFailure),
      onRefused,
    });
  }

  /** As many pages as were open. The first answer's cursor is the one that nothing can have slipped past. */
  async function resync() {
    const open = pages;
    onState('connecting');
    try {
      const { cursor } = await readClients();
      if (!cursor) return;
      while (next && pages < open) await readClients(next);
      listen(cursor);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      onState('waiting');
      retry = setTimeout(() => void resync().catch(onFailure), RETRY_MS);
    }
  }

  function heard(event) {
    sessions.hear(event);
    // What is being looked at is not news.
    if (route.session) sessions.opened(route.session);
    // Once a frame: a replay after a night away may bring thousands.
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
      const entry = entryOf(row, route);
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
    stream?.close();
    stream = undefined;
  }

  more.addEventListener('click', () => void readClients(next).catch(onFailure));

  return {
    show,
    close,
    sessions,
    mark(wanted) {
      route = wanted;
      if (route.session) sessions.opened(route.session);
      draw();
    },
  };
}

/** Moves only what stands elsewhere: an element that is moved loses the focus. */
function arrange(list, items) {
  for (const [index, item] of items.entries())
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  while (list.children.length > items.length) list.lastElementChild.remove();
}

function entryOf(row, route) {
  const { clinic, clinician } = route;
  const isOpen = row.id === route.session;
  return el(
    'a',
    {
      class: 'row',
      href: hrefOf({ clinic, clinician, client: row.client.id, session: row.id }),
      'aria-current': isOpen ? 'true' : undefined,
      'data-new': row.isNew && !isOpen,
    },
    el('span', { class: 'who' }, nameOf(row.client), row.isNew && !isOpen ? spoken(' (new)') : ''),
    standingChip(row.standing),
    el(
      'span',
      { class: 'when' },
      [row.at && momentWords(row.at), row.kind && plainWords(row.kind)].filter(Boolean).join(' · '),
    ),
    row.preview ? el('span', { class: 'preview' }, row.preview) : undefined,
  );
}

const countWords = (count) =>
  count === 0
    ? 'No clients yet.'
    : `${count} ${count === 1 ? 'client' : 'clients'}, newest sessions first`;
