import { createClients } from './components/clients.js';
import { createDetail } from './components/detail.js';
import { byId, failed } from './dom.js';
import { createFeed } from './components/feed.js';
import { token } from './graphql.js';
import { createPicker } from './components/picker.js';
import { hrefOf, readRoute, scopeOf, showsClients, useUuids, viewOf } from './route.js';
import { createSignIn } from './components/sign-in.js';
import { eventWords, nameOf } from './words.js';

const STATES = {
  idle: 'Nothing selected',
  connecting: 'Connecting …',
  live: 'Live',
  waiting: 'Reconnecting …',
  refused: 'Not live',
  signedOut: 'Not signed in',
};

const CHOOSE = 'Choose from the list to see notes as they become ready.';
const NEWS_MS = 3_000;

const state = byId('state');
const failure = byId('failure');
const news = byId('news');
let route = {};
let feedTitle = '';
let latestNews = '';
let pendingNews;

function showState(name) {
  const { state: before } = state.dataset;
  // A screen reader would announce each attempt to reconnect.
  if (before === name || (before === 'waiting' && name === 'connecting')) return;
  state.dataset.state = name;
  state.textContent = STATES[name];
  if (name !== 'live') return;
  failure.hidden = true;
  detail.catchUp();
}

const showTitle = (text) => (document.title = text ? `${text} · Live notes` : 'Live notes');

function askForToken(message) {
  showState('signedOut');
  signIn.ask(message);
}

/** Shows a failure in its part of the page, or at the top. `again` loads that part again. */
function fail(error, place = failure, again) {
  if (error.code === 'UNAUTHENTICATED') return askForToken(error.message);
  const hadFocus = place.contains(document.activeElement);
  place.replaceChildren(again ? failed(error.message, again) : error.message);
  place.hidden = false;
  if (hadFocus) place.querySelector('.again')?.focus();
}

function refused(message, code, again) {
  showState('refused');
  if (code === 'UNAUTHENTICATED' || code === 4401 || code === 4403) return askForToken(message);
  fail(new Error(message), failure, again);
}

function apply(event) {
  detail.apply(event);
  announce(`${eventWords(event.type)}: ${nameOf(event.client)}`);
}

/** A screen reader announces only the newest event, and not too often. */
function announce(text) {
  latestNews = text;
  pendingNews ??= setTimeout(() => {
    news.textContent = latestNews;
    pendingNews = undefined;
  }, NEWS_MS);
}

const signIn = createSignIn(
  () => start().then(focusContent),
  () => feed.close(),
);
const picker = createPicker(fail, () => feed.mark(route));
const clients = createClients(fail);
const detail = createDetail({
  onFailure: fail,
  onTitle: showTitle,
  onStatus: (id, status) => feed.setStatus(id, status),
});
const feed = createFeed({
  names: picker.names,
  onEvent: apply,
  onMissed: () => detail.catchUp(true),
  onState: showState,
  onRefused: refused,
  onFailure: fail,
  onTitle(text) {
    feedTitle = text;
    if (!route.session) showTitle(text);
  },
});

const listKey = (wanted) => JSON.stringify([wanted.clinic, wanted.clinician, scopeOf(wanted)]);

/** Shows what the URL says. The focus moves only if the user caused the change. */
async function go(isByPerson) {
  await useUuids();
  const before = route;
  route = readRoute();
  failure.hidden = true;
  if (viewOf(route) !== document.body.dataset.view) scrollTo(0, 0);
  document.body.dataset.view = viewOf(route);
  link(route);
  picker.mark(route);
  feed.mark(route);
  const isOther = listKey(route) !== listKey(before);
  if (!scopeOf(route)) {
    feed.close();
    feed.explain('Sessions', picker.isEmpty() ? '' : CHOOSE);
    showState('idle');
  }
  if (!route.session) showTitle(feedTitle);
  // With the arrow keys, a user may select one clinic after another.
  if (isByPerson && !route.session && document.activeElement.id !== 'clinic') leaveFor(before);
  await Promise.all([
    isOther && scopeOf(route) && feed.show(route),
    showsClients(route) && (isOther || !showsClients(before)) && clients.show(route),
    open(route, isByPerson),
  ]);
}

/** The links around the list. */
function link({ clinic, clinician, list, show }) {
  const hasClients = Boolean(clinic || clinician);
  const isClients = showsClients({ clinic, clinician, show });
  const hrefs = {
    'to-picker': { clinic, show: 'clinicians' },
    'to-clients': { clinic, clinician, show: 'clients' },
    'to-feed': { clinic, clinician, list },
    'show-sessions': { clinic, clinician },
    'show-clients': { clinic, clinician, show: 'clients' },
  };
  for (const [id, parts] of Object.entries(hrefs)) byId(id).href = hrefOf(parts);
  byId('show-sessions').ariaCurrent = isClients ? null : 'page';
  byId('show-clients').ariaCurrent = isClients ? 'page' : null;
  byId('to-clients').hidden = !list || !hasClients;
  byId('to-picker').hidden = Boolean(list) && hasClients;
  byId('feed-tabs').hidden = Boolean(list) || !hasClients;
  byId('session-list').hidden = isClients;
  byId('client-list').hidden = !isClients;
}

async function open(wanted, isByPerson) {
  await detail.show(wanted);
  // A hidden element can't take the focus, so the session must be shown first.
  if (isByPerson && wanted.session && wanted === route) byId('detail-title').focus();
}

/** Moves the focus from a closed session to its row, or else to the top of what is shown now. */
function leaveFor(before) {
  const row =
    before.session && document.querySelector(`[data-id="${CSS.escape(before.session)}"] a`);
  if (row) row.focus();
  else byId(viewOf(route) === 'picker' ? 'picker-title' : 'feed-title').focus();
}

/** A phone shows one pane at a time. */
function focusContent() {
  const titles = ['feed-title', 'detail-title', 'picker-title'].map(byId);
  titles.find((title) => title.checkVisibility())?.focus();
}

async function start() {
  // A request without a token would be rejected.
  if (document.documentElement.dataset.auth === 'token' && !token.get()) return askForToken();
  failure.hidden = true;
  showState('connecting');
  try {
    await useUuids();
    const first = await picker.load(readRoute());
    signIn.done();
    byId('panes').hidden = false;
    route = {};
    if (first && !location.hash) history.replaceState(null, '', hrefOf(first));
    await go(false);
  } catch (error) {
    showState('refused');
    fail(error, failure, start);
  }
}

addEventListener('hashchange', () => {
  // Signing in reads the URL.
  if (!byId('panes').hidden) void go(true).catch(fail);
});
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  focusContent();
});
await start();
