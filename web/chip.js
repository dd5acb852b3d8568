import { el, icon } from './dom.js';
import { STANDING } from './words.js';

export const standingChip = (standing) =>
  el(
    'span',
    { class: 'chip', 'data-standing': standing },
    standing === 'locked' ? icon('lock') : undefined,
    STANDING[standing],
  );
