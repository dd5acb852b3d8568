import { byId, el, showMore } from '../dom.js';
import { ask, Refused } from '../graphql.js';
import { CLIENTS_OF } from '../operations.js';
import { hrefOf, scopeOf } from '../route.js';
import { bornWords, countWords, initialsOf, nameOf } from '../words.js';

const TYPING_PAUSE_MS = 250;

/** The clients of a clinic or a clinician, with a search by name. */
export function createClients(onFailure) {
  const [find, found, list, more] = ['find-client', 'clients-found', 'clients', 'more-clients'].map(
    byId,
  );
  let route = {};
  let next;
  let typing;
  /** Increased for each search: a response to an earlier one is ignored. */
  let turn = 0;

  async function show(wanted) {
    // The search by name works in one list.
    if (wanted.clinic !== route.clinic || wanted.clinician !== route.clinician) find.value = '';
    route = wanted;
    await read();
  }

  async function read(after) {
    const asked = (turn += 1);
    const name = find.value.trim() || undefined;
    if (after === undefined) {
      list.replaceChildren();
      more.hidden = true;
    }
    found.textContent = 'Loading …';
    const { clinic, clinician } = route;
    const { kind } = scopeOf({ clinic, clinician });
    try {
      const { data, errors } = await ask(CLIENTS_OF[kind], { clinic, clinician, name, after });
      if (asked !== turn) return;
      if (errors.length > 0) throw new Refused(errors);
      draw(data.scope?.clients, name);
    } catch (error) {
      if (asked === turn) onFailure(error, found, () => read(after));
    }
  }

  function draw(clients, name) {
    list.append(...(clients?.nodes ?? []).map(entryOf));
    next = clients?.pageInfo.hasNextPage ? clients.pageInfo.endCursor : undefined;
    showMore(more, list, next !== undefined);
    found.textContent = wordsFor(clients?.totalCount ?? 0, name);
  }

  function wordsFor(total, name) {
    if (total === 0) return name ? 'No client has this name.' : 'No clients yet.';
    return next
      ? `${list.children.length} of ${countWords(total, 'client')}`
      : countWords(total, 'client');
  }

  function entryOf(client) {
    const { clinic, clinician } = route;
    return el(
      'li',
      {},
      el(
        'a',
        { class: 'person', href: hrefOf({ clinic, clinician, list: client.id }) },
        el('span', { class: 'initials', 'aria-hidden': 'true' }, initialsOf(client)),
        el('span', {}, nameOf(client)),
        el('span', { class: 'born' }, bornWords(client)),
      ),
    );
  }

  find.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => void read(), TYPING_PAUSE_MS);
  });
  more.addEventListener('click', () => void read(next));

  return { show };
}
