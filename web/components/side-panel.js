import { byId, el } from '../dom.js';
import { createScores } from './scores.js';
import { clockWords, plainWords } from '../words.js';

/** Transcript, decision making and scores as tabs, with the usual keyboard control. */
export function createSidePanel(onFailure) {
  const names = ['Transcript', 'Decision making', 'Scores'];
  const tabs = names.map((name, index) =>
    el(
      'button',
      { type: 'button', role: 'tab', id: `tab-${index}`, 'aria-controls': `panel-${index}` },
      name,
    ),
  );
  const bodies = names.map((_, index) =>
    el('div', {
      role: 'tabpanel',
      id: `panel-${index}`,
      'aria-labelledby': `tab-${index}`,
      tabindex: '0',
      hidden: true,
    }),
  );
  byId('side-panel').replaceChildren(
    el('div', { role: 'tablist', 'aria-label': 'Session details', class: 'tabs' }, tabs),
    ...bodies,
  );

  function select(index) {
    for (const [each, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(each === index));
      tab.tabIndex = each === index ? 0 : -1;
      bodies[each].hidden = each !== index;
    }
  }

  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => select(index));
    tab.addEventListener('keydown', (event) => {
      const last = tabs.length - 1;
      const other = {
        ArrowRight: index === last ? 0 : index + 1,
        ArrowLeft: index === 0 ? last : index - 1,
        Home: 0,
        End: last,
      }[event.key];
      if (other === undefined) return;
      event.preventDefault();
      select(other);
      tabs[other].focus();
    });
  }
  select(0);

  // On a phone these are above the note, so that they are seen without scrolling.
  for (const button of document.querySelectorAll('#jump button'))
    button.addEventListener('click', () => {
      const tab = names.indexOf(button.textContent);
      if (tab >= 0) select(tab);
      byId(button.dataset.target).scrollIntoView({ block: 'start' });
    });

  const [transcript, mdm, scores] = bodies;
  return {
    draw(session) {
      transcript.replaceChildren(transcriptOf(session));
      mdm.replaceChildren(...mdmOf(session));
    },
    showScores: createScores(scores, onFailure).show,
  };
}

const empty = (text) => el('p', { class: 'empty' }, text);

function transcriptOf({ transcript, transcriptStatus, missing }) {
  if (missing.has('transcript')) return empty('The transcript could not be loaded.');
  if (!transcript)
    return empty(
      transcriptStatus === 'FAILED'
        ? 'The recording could not be transcribed.'
        : 'No transcript yet.',
    );
  return el(
    'ol',
    { class: 'transcript' },
    transcript.items.map(({ startTime, speaker, transcript: said }) =>
      el(
        'li',
        { 'data-speaker': speaker },
        el('span', { class: 'speaker' }, speaker ? plainWords(speaker) : 'Speaker not known'),
        el('span', { class: 'clock' }, clockWords(startTime)),
        el('p', {}, said ?? ''),
      ),
    ),
  );
}

function mdmOf({ mdm, mdmStatus, missing }) {
  if (missing.has('mdm')) return [empty('The decision making could not be loaded.')];
  if (!mdm)
    return [
      empty(
        mdmStatus === 'FAILED'
          ? 'The recording could not be transcribed.'
          : 'None so far. Only a prescriber’s notes have these.',
      ),
    ];
  return [
    el('h4', {}, 'Problems addressed'),
    el(
      'ul',
      { class: 'problems' },
      mdm.problemsAddressed.map(({ level, rationale }) =>
        el('li', {}, levelOf(level), el('p', {}, rationale ?? '')),
      ),
    ),
    el('h4', {}, 'Risk of complications'),
    ...riskOf(mdm.risk),
    el('h4', {}, 'Crisis intervention'),
    el(
      'p',
      {},
      { true: 'Identified', false: 'Not identified' }[mdm.crisisIntervention] ?? 'Not known',
    ),
  ];
}

const levelOf = (level) =>
  level
    ? el(
        'span',
        { class: 'level', 'data-level': level },
        level === 'NA' ? 'Not applicable' : plainWords(level),
      )
    : undefined;

function riskOf(risk) {
  if (risk === null || typeof risk !== 'object')
    return [el('p', {}, risk === null ? 'Not known' : String(risk))];
  const { level, ...others } = risk;
  return [
    el(
      'div',
      {},
      levelOf(level && String(level).toUpperCase()),
      ...Object.values(others)
        .filter((value) => value !== null)
        .map((value) =>
          el('p', {}, typeof value === 'object' ? JSON.stringify(value) : String(value)),
        ),
    ),
  ];
}
