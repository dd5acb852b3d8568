/** An element with attributes and children. Strings become text, never markup: what a note says can't act. */
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
const PATHS = {
  lock: 'M5 7V5.5a3 3 0 0 1 6 0V7M4 7h8v6H4z',
  spark: 'M8 2l1.5 4.5L14 8l-4.5 1.5L8 14l-1.5-4.5L2 8l4.5-1.5z',
};

/** For the eye only: whatever it says stands beside it in words. */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [key, value] of Object.entries({
    viewBox: '0 0 16 16',
    class: 'icon',
    'aria-hidden': 'true',
  }))
    svg.setAttribute(key, value);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}

/** For ears only. */
export const spoken = (text) => el('span', { class: 'spoken' }, text);
