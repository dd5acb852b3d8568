import { arrange, el, hiddenText, statusChip } from '../dom.js';
import { hrefOf } from '../route.js';
import { dateTimeWords, nameOf, plainWords } from '../words.js';

/** Changes only the rows that look different: the focus stays on what has it. */
export function drawRows(list, rows, route, scope) {
  const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const items = rows.map((row) => {
    // A row says "Today" until the day ends.
    const look = JSON.stringify([row, row.id === route.session, new Date().toDateString()]);
    const item = known.get(row.id);
    if (item?.dataset.look === look) return item;
    const entry = sessionRow(row, route, scope);
    const fresh = item ?? el('li', { 'data-id': row.id });
    const hadFocus = fresh.contains(document.activeElement);
    fresh.replaceChildren(entry);
    if (hadFocus) entry.focus();
    fresh.dataset.look = look;
    return fresh;
  });
  arrange(list, items);
}

/** One session in the list, as a link that opens it. */
function sessionRow(row, { clinic, clinician, list, session }, scope) {
  const isOpen = row.id === session;
  const isNew = row.isNew && !isOpen;
  const isClient = scope?.kind === 'client' || scope?.kind === 'session';
  const date = row.at && dateTimeWords(row.at);
  const who = isClient ? (date ?? 'Session') : nameOf(row.client);
  const facts = [
    !isClient && date,
    row.kind && plainWords(row.kind),
    scope?.kind === 'clinic' && row.clinician && `with ${nameOf(row.clinician)}`,
  ];
  return el(
    'a',
    {
      class: 'row',
      href: hrefOf({ clinic, clinician, list, client: row.client.id, session: row.id }),
      'aria-current': isOpen ? 'true' : undefined,
      'data-new': isNew,
    },
    el('span', { class: 'who' }, who, isNew ? hiddenText(' (new)') : ''),
    statusChip(row.status),
    el('span', { class: 'when' }, facts.filter(Boolean).join(' · ')),
    row.preview ? el('span', { class: 'preview' }, row.preview) : undefined,
  );
}
