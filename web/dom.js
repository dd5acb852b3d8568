import { STATUS } from './words.js';

/** An element with attributes and children. Strings become text, never markup: a note's text is never executed. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

export const byId = (id) => document.getElementById(id);

const SVG = 'http://www.w3.org/2000/svg';
const LOCK = 'M5 7V5.5a3 3 0 0 1 6 0V7M4 7h8v6H4z';

/** Decorative: the text beside it has the same meaning. */
function lockIcon() {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [key, value] of Object.entries({
    viewBox: '0 0 16 16',
    class: 'icon',
    'aria-hidden': 'true',
  }))
    svg.setAttribute(key, value);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', LOCK);
  svg.append(path);
  return svg;
}

/** For screen readers only. */
export const hiddenText = (text) => el('span', { class: 'visually-hidden' }, text);

export const statusChip = (status) =>
  el(
    'span',
    { class: 'chip', 'data-status': status },
    status === 'locked' ? lockIcon() : undefined,
    STATUS[status],
  );

/** Why something could not be loaded, with a button to load it again. */
export function failed(message, again) {
  const button = el('button', { type: 'button', class: 'again' }, 'Try again');
  button.addEventListener('click', async () => {
    const part = button.closest('section, nav, main');
    button.remove();
    await again();
    // Removing the button loses the focus, unless the user has moved it meanwhile.
    if (document.activeElement !== document.body) return;
    const places = [
      ...part.querySelectorAll('.again'),
      ...part.querySelectorAll('[tabindex="-1"]'),
    ];
    places.find((place) => place.checkVisibility())?.focus();
  });
  return el('span', { class: 'failed' }, message, ' ', button);
}

/** "Show more" is hidden after the last page. The focus then moves to the row before it. */
export function showMore(button, list, hasMore) {
  const hadFocus = document.activeElement === button;
  button.hidden = !hasMore;
  if (hadFocus && !hasMore) list.querySelector('li:last-child a')?.focus();
}

/** Moves only elements whose position has changed: an element that is moved loses the focus. */
export function arrange(list, items) {
  for (const [index, item] of items.entries())
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  while (list.children.length > items.length) list.lastElementChild.remove();
}
