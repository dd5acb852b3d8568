import { el, hiddenText, statusChip } from '../dom.js';
import { hrefOf } from '../route.js';
import { dateTimeWords, nameOf, plainWords } from '../words.js';

/** One session in the list, as a link that opens it. */
export function sessionRow(row, { clinic, clinician, list, session }, scope) {
  const isOpen = row.id === session;
  const isNew = row.isNew && !isOpen;
  const isClient = scope?.kind === 'client';
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
