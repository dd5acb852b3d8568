import { standingChip } from './chip.js';
import { byId, el, spoken } from './dom.js';
import { ask } from './graphql.js';
import { follow } from './live.js';
import { FOLLOW, RECENT } from './operations.js';
import { hrefOf } from './route.js';
import { createSessions } from './sessions.js';
import { momentWords, nameOf, plainWords } from './words.js';

/** The sessions of one clinician's clients: read once, then kept up to date by events. */
export function createFeed({ onEvent, onState, onRefused, onFailure }) {
  const [title, hint, list, more] = ['feed-title', 'feed-hint', 'sessions', 'more'].map(byId);
  const sessions = createSessions();
  let route = {};
  let stream;
  let next;

  /** Resolves once the list is there and the events are being followed. */
  async function show(wanted) {
    close();
    route = wanted;
    sessions.clear();
    draw();
    title.textContent = 'Sessions';
    hint.textContent = 'Loading …';
    const { cursor, clinician } = await readClients();
    if (route.clinician !== wanted.clinician || stream) return;
    title.textContent = nameOf(clinician);
    listen(cursor);
  }

  async function readClients(after) {
    const asked = route.clinician;
    const { eventCursor, clinician } = await ask(RECENT, {
      clinicianId: asked,
      clinicId: route.clinic,
      after,
    });
    if (asked !== route.clinician) return {};
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

  async function resync() {
    const { cursor } = await readClients();
    if (cursor) listen(cursor);
  }

  function heard(event) {
    sessions.hear(event);
    draw();
    onEvent(event);
  }

  function draw() {
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
