import { el } from '../dom.js';
import { ask, Refused } from '../graphql.js';
import { SCORES } from '../operations.js';
import { assessmentName, dateTimeWords } from '../words.js';

/** The log is read oldest first, at most 2,000 events per request. */
const MAX_REQUESTS = 50;
const MAX_SHOWN = 50;
const TOO_LONG = 'The event log is long: newer scores may be missing.';

/** The newest scores of a client, read from the event log. What was read before is not read again. */
export function createScores(panel, onFailure) {
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const list = el('div');
  panel.replaceChildren(problem, list);
  let known = {};
  /** Increased for each reading: a response to an earlier one is ignored. */
  let turn = 0;

  async function show(client) {
    const asked = (turn += 1);
    if (known.client !== client) {
      known = { client, newest: [] };
      list.replaceChildren(empty('Loading …'));
    }
    problem.hidden = true;
    if (!client) return list.replaceChildren(empty(NOT_OPEN));
    try {
      const { newest, failure } = await read(client, () => asked === turn);
      if (asked !== turn) return;
      list.replaceChildren(...(newest.length > 0 || failure ? newest.map(scoreOf) : [empty(NONE)]));
      if (failure) throw failure;
    } catch (error) {
      if (asked !== turn) return;
      // The log was lost, or no longer goes back that far: read it from its beginning.
      if (error.code === 'EVENTS_EXPIRED' && known.after) return forget(client);
      if (error.isNotFound) return list.replaceChildren(empty(NOT_OPEN));
      if (known.newest.length === 0 && list.querySelector('.empty')) list.replaceChildren();
      onFailure(error, problem, () => show(client));
    }
  }

  function forget(client) {
    known = {};
    return show(client);
  }

  async function read(client, isWanted) {
    let { after, newest } = known;
    let failure;
    for (let requests = 0; requests < MAX_REQUESTS && isWanted(); requests += 1) {
      const { data, errors } = await ask(SCORES, { client, after });
      const { nodes, pageInfo } = data.events;
      newest = newestOf([...newest, ...nodes]);
      after = pageInfo.endCursor ?? after;
      if (errors.length > 0) failure ??= new Refused(errors);
      // A score that could not be read is read again the next time.
      if (!failure && isWanted()) known = { client, after, newest };
      if (!pageInfo.hasNextPage) return { newest, failure };
    }
    return { newest, failure: failure ?? new Error(TOO_LONG) };
  }

  return { show };
}

/** Events arrive in any order. */
const newestOf = (scores) =>
  scores.toSorted((a, b) => b.occurredAt.localeCompare(a.occurredAt)).slice(0, MAX_SHOWN);

const NONE = 'No scores yet. They appear when the client completes an assessment.';
const NOT_OPEN = 'Scores are shown to those who may see the client.';
const empty = (text) => el('p', { class: 'empty' }, text);

function scoreOf({ assessmentId, assessmentScore: score, occurredAt }) {
  return el(
    'details',
    { class: 'score' },
    el(
      'summary',
      {},
      el('strong', {}, assessmentName(assessmentId)),
      el('span', { class: 'total' }, String(score?.totalScore ?? '–')),
      el('time', { datetime: occurredAt }, dateTimeWords(occurredAt)),
    ),
    el(
      'dl',
      {},
      (score?.answers ?? []).flatMap(({ questionDisplay, answerDisplay }) => [
        el('dt', {}, questionDisplay ?? ''),
        el('dd', {}, answerDisplay ?? ''),
      ]),
    ),
  );
}
