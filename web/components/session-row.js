import { arrange, el, hiddenText, statusChip } from '../dom.js';
import { hrefOf } from '../route.js';
import { dateTimeWords, nameOf, plainWords } from '../words.js';

/**
 * Changes only the rows that look different, so that the focused row keeps the focus. `names` has the known names of
 * clinicians, by id.
 */
export function drawRows(list, rows, { route, scope, names }) {
  const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const items = rows.map((row) => {
    // A clinic's list has the sessions of several clinicians.
    const clinician = scope?.kind === 'clinic' ? names.get(row.clinicianId) : undefined;
    const isOpen = row.id === route.session;
    // A row says "Today" until the day ends.
    const look = JSON.stringify([row, clinician, isOpen, new Date().toDateString()]);
    const item = known.get(row.id);
    if (item?.dataset.look === look) return item;
    const entry = sessionRow({ ...row, clinician, isOpen }, route, scope);
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
function sessionRow(row, { clinic, clinician, list }, scope) {
  const isNew = row.isNew && !row.isOpen;
  const isClient = scope?.kind === 'client' || scope?.kind === 'session';
  const date = row.at && dateTimeWords(row.at);
  const who = isClient ? (date ?? 'Session') : nameOf(row.client);
  const facts = [
    !isClient && date,
    row.kind && plainWords(row.kind),
    row.clinician && `with ${row.clinician}`,
  ];
  return el(
    'a',
    {
      class: 'row',
      href: hrefOf({ clinic, clinician, list, client: row.client.id, session: row.id }),
      'aria-current': row.isOpen ? 'true' : undefined,
      'data-new': isNew,
    },
    el('span', { class: 'who' }, who, isNew ? hiddenText(' (new)') : ''),
    statusChip(row.status),
    el('span', { class: 'when' }, facts.filter(Boolean).join(' · ')),
    row.preview ? el('span', { class: 'preview' }, row.preview) : undefined,
  );
}
