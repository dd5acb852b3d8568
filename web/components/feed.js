import { byId, showMore } from '../dom.js';
import { ask, Refused, Unreachable } from '../graphql.js';
import { EVENTS, SESSIONS_OF } from '../operations.js';
import { hrefOf, scopeOf } from '../route.js';
import { drawRows } from './session-row.js';
import { clientsIn, createSessions, pageIn } from './sessions.js';
import { subscribe } from '../subscribe.js';
import { fullName, listWords } from '../words.js';

const RETRY_MS = 2_000;
const NOT_FOUND =
  'There is no such record, or you may not see it. Choose another one from the list.';

/** The sessions of a clinic, a clinician or a client, or one session: read once, then kept up to date by events. */
export function createFeed({ names, onEvent, onMissed, onState, onRefused, onFailure, onTitle }) {
  const ids = ['feed-title', 'feed-hint', 'feed-problem', 'sessions', 'more'];
  const [title, hint, problem, list, more] = ids.map(byId);
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
  /** Why a part of the list is missing. */
  let missing;
  /** Increased for each scope: a response to an earlier one is ignored. */
  let turn = 0;

  async function show(wanted) {
    close();
    route = wanted;
    scope = scopeOf(route);
    sessions.clear();
    pages = 0;
    more.hidden = true;
    draw();
    showTitle();
    hint.textContent = 'Loading …';
    problem.hidden = true;
    await load();
  }

  /** Reads as many pages as were open, then subscribes after the cursor of the first one. */
  async function load(open = 1) {
    const asked = turn;
    onState('connecting');
    try {
      const { cursor, record } = await read();
      if (!cursor) return;
      if (!record) return invalid();
      while (asked === turn && next && pages < open) await read(next);
      if (asked === turn) listen(cursor);
    } catch (error) {
      if (asked !== turn) return;
      if (error.isNotFound) return invalid();
      const isUnreachable = error instanceof Unreachable;
      onState(isUnreachable ? 'waiting' : 'refused');
      if (sessions.all().length === 0) hint.textContent = '';
      onFailure(error, problem, reload);
      if (isUnreachable) retry = setTimeout(() => void load(open), RETRY_MS);
    }
  }

  /** A known name is shown even while its record can't be read. */
  function showTitle(record) {
    const id = route.list ?? route.clinician ?? route.clinic;
    const name = record?.name || fullName(record) || names.get(id);
    if (name) names.set(id, name);
    title.textContent = scope.kind === 'session' ? 'Session' : name || 'Sessions';
    onTitle(title.textContent);
  }

  function reload() {
    close();
    return load(pages);
  }

  function invalid() {
    const { session, client } = route;
    // The session itself may be open to this viewer.
    if (session && scope.kind !== 'session') return location.replace(hrefOf({ client, session }));
    onState('idle');
    explain('Not found', NOT_FOUND);
  }

  /** Instead of a list. */
  function explain(heading, text) {
    sessions.clear();
    more.hidden = true;
    draw();
    title.textContent = heading;
    hint.textContent = text;
    problem.hidden = true;
    byId('feed-tabs').hidden = true;
    onTitle(heading);
  }

  async function read(after) {
    const asked = turn;
    const variables = { ...route, hasClient: Boolean(route.client), after };
    const { data, errors } = await ask(SESSIONS_OF[scope.kind], variables);
    // The response is for another list, or for a page that two clicks requested.
    if (asked !== turn || (after && after !== next)) return {};
    const { eventCursor, scope: record } = data;
    const page = pageIn(record);
    if (record) showTitle(record);
    if (!page && errors.length > 0) throw new Refused(errors);
    if (after === undefined) {
      sessions.clear();
      pages = 0;
      clientsRead = 0;
      missing = undefined;
    }
    pages += 1;
    if (errors.length > 0) missing = new Refused(errors);
    if (!page) return { cursor: eventCursor };
    const clients = clientsIn(record, page, route.client);
    for (const client of clients)
      for (const session of client.sessions?.nodes ?? [])
        sessions.read(client, session, errors.length === 0);
    clientsRead += clients.length;
    total = page.totalCount;
    next = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined;
    more.textContent = scope.kind === 'client' ? 'Show more sessions' : 'Show more clients';
    draw();
    showMore(more, list, next !== undefined);
    const count = record.sessions ? sessions.all().length : clientsRead;
    hint.textContent = listWords(scope.kind, next && count, total, sessions.isNewestFirst());
    problem.hidden = true;
    if (missing) onFailure(missing, problem, reload);
    return { cursor: eventCursor, record };
  }

  function listen(cursor) {
    subscription = subscribe({
      query: EVENTS,
      variables: { filter: scope.filter },
      cursor,
      pick: (data) => data.events,
      onEvent: apply,
      onState,
      // The log no longer has the events after our cursor: read everything again, and continue from there.
      onExpired: () => Promise.all([load(pages), onMissed()]),
      onRefused: (message, code) => onRefused(message, code, reload),
    });
  }

  async function readMore() {
    const asked = turn;
    try {
      await read(next);
    } catch (error) {
      if (asked === turn) onFailure(error, problem, readMore);
    }
  }

  function apply(event) {
    sessions.apply(event);
    // The open session is not marked as new.
    if (route.session) sessions.markRead(route.session);
    // Once per frame: a replay after a night may deliver thousands of events.
    frame ??= requestAnimationFrame(draw);
    onEvent(event);
  }

  function draw() {
    frame = undefined;
    drawRows(list, sessions.all(), { route, scope, names });
  }

  function close() {
    turn += 1;
    clearTimeout(retry);
    subscription?.close();
    subscription = undefined;
  }

  more.addEventListener('click', () => void readMore());

  return {
    show,
    close,
    mark(wanted) {
      route = wanted;
      if (route.session) sessions.markRead(route.session);
      draw();
    },
    explain,
    /** The open session knows more: that a note is being rewritten, or why there is none. */
    setStatus(id, status) {
      sessions.setStatus(id, status);
      draw();
    },
  };
}
