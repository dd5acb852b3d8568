import { createDetail } from './detail.js';
import { byId } from './dom.js';
import { createFeed } from './feed.js';
import { token } from './graphql.js';
import { createPicker } from './picker.js';
import { hrefOf, readRoute, viewOf } from './route.js';
import { createSignIn } from './sign-in.js';
import { eventWords, nameOf } from './words.js';

const STATES = {
  idle: 'Not connected',
  connecting: 'Connecting …',
  live: 'Live',
  waiting: 'Reconnecting …',
  refused: 'Disconnected',
};

const state = byId('state');
const failure = byId('failure');
const news = byId('news');
let route = {};

function showState(name) {
  if (state.dataset.state === name) return;
  state.dataset.state = name;
  if (name === 'live') failure.hidden = true;
  state.textContent = STATES[name];
}

function fail(error) {
  if (error.code === 'UNAUTHENTICATED') return signIn.ask(error.message);
  failure.textContent = error.message;
  failure.hidden = false;
}

function refused(message, code) {
  showState('refused');
  if (code === 'UNAUTHENTICATED' || code === 4401 || code === 4403) return signIn.ask(message);
  fail(new Error(message));
}

function heard(event) {
  detail.hear(event);
  news.textContent = `${eventWords(event.type)}: ${nameOf(event.client)}`;
}

const signIn = createSignIn(start, () => feed.close());
const picker = createPicker(fail);
const detail = createDetail(fail);
const feed = createFeed({
  onEvent: heard,
  onState: showState,
  onRefused: refused,
  onFailure: fail,
});

/** Shows what the address says. Only what a person did moves the focus. */
async function go(isByPerson) {
  const before = route;
  route = readRoute();
  failure.hidden = true;
  document.body.dataset.view = viewOf(route);
  byId('to-feed').href = hrefOf({ clinic: route.clinic, clinician: route.clinician });
  picker.mark(route);
  feed.mark(route);
  if (!route.clinician) {
    feed.close();
    showState('idle');
  }
  const isOther = route.clinician && route.clinician !== before.clinician;
  if (isByPerson && !route.session) leaveFor(before);
  await Promise.all([isOther && feed.show(route), open(route, isByPerson)]);
}

async function open(wanted, isByPerson) {
  await detail.show(wanted);
  // What is hidden can't take the focus: not before the session is there.
  if (isByPerson && wanted.session && wanted === route) byId('detail-title').focus();
}

/** Back from a session to its row; otherwise to the top of what is shown now. */
function leaveFor(before) {
  const row =
    before.session && document.querySelector(`[data-id="${CSS.escape(before.session)}"] a`);
  if (row) row.focus();
  else byId(route.clinician ? 'feed-title' : 'picker-title').focus();
}

async function start() {
  // Asking without a token would only be refused.
  if (document.documentElement.dataset.auth === 'token' && !token.get()) return signIn.ask('');
  try {
    const { only } = await picker.load(readRoute());
    signIn.done();
    byId('panes').hidden = false;
    route = {};
    if (only && !location.hash) history.replaceState(null, '', hrefOf({ clinician: only.id }));
    await go(false);
  } catch (error) {
    fail(error);
  }
}

addEventListener('hashchange', () => void go(true).catch(fail));
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('feed-title').focus();
});
await start();
