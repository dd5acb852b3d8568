import { byId, el } from '../dom.js';
import { ask, Refused } from '../graphql.js';
import { CLINICIANS, START } from '../operations.js';
import { hrefOf } from '../route.js';
import { countWords, fullName, initialsOf, nameOf } from '../words.js';

/** The records that the token names. */
const OWN = 'own';

/** The clinics that the viewer may open, with the clinicians of the chosen one, and what else the token names. */
export function createPicker(onFailure, onNames) {
  const [select, find, list, found, problem] = [
    'clinic',
    'find',
    'clinicians',
    'found',
    'picker-problem',
  ].map(byId);
  let own = [];
  /** Undefined until they are loaded. */
  let entries;
  let chosen = {};
  /** Known names of clinics, clinicians and clients, by id. */
  const names = new Map();

  /** Returns what to open on a first visit: the only clinician, the first clinic, or the only record. */
  async function load(route) {
    const { data, errors: all } = await ask(START);
    const { viewer } = data;
    // The viewer may be another person than before.
    names.clear();
    // A token may name records that do not exist.
    const errors = all.filter(({ extensions }) => extensions?.code !== 'NOT_FOUND');
    own = ownOf(viewer);
    remember(own);
    const groups = viewer.organizations?.nodes ?? [];
    const lists = [viewer.organizations, ...groups.map(({ clinics }) => clinics)];
    const isCut = lists.some((each) => each?.pageInfo.hasNextPage);
    const listed = groups.flatMap(({ clinics }) => clinics?.nodes ?? []);
    const others = viewer.clinics.filter(({ id }) => !listed.some((clinic) => clinic.id === id));
    for (const { id, name } of [...listed, ...others]) names.set(id, name);
    select.replaceChildren(
      ...(own.length > 0 ? [el('option', { value: OWN }, 'Yours')] : []),
      ...others.map(optionOf),
      ...groups.map(({ name, clinics }) =>
        el('optgroup', { label: name ?? 'Organization' }, (clinics?.nodes ?? []).map(optionOf)),
      ),
      ...(isCut ? [el('optgroup', { label: 'Others are not listed here' })] : []),
    );
    if (errors.length > 0 && select.options.length === 0) throw new Refused(errors);
    problem.hidden = true;
    if (errors.length > 0)
      onFailure(new Refused(errors), problem, () =>
        load(chosen).catch((error) => onFailure(error, problem, () => load(chosen))),
      );
    const options = [...select.options].map(({ value }) => value);
    if (options.includes(route.clinic)) select.value = route.clinic;
    const clinic = options.find((value) => value !== OWN);
    for (const part of [select, select.labels[0]]) part.hidden = !clinic;
    const hasOthersOnly = !clinic && own.length > 0 && viewer.clinicians.length === 0;
    for (const id of ['picker-title', 'to-picker'])
      byId(id).textContent = hasOthersOnly ? 'Open to you' : 'Clinicians';
    find.labels[0].textContent = hasOthersOnly ? 'Find a record' : 'Find a clinician';
    await show();
    const first = viewer.clinicians.length > 0 || !clinic ? own : [{ route: { clinic } }];
    return first.length === 1 ? first[0].route : undefined;
  }

  function remember(people) {
    for (const { key, route, knownName } of people) names.set(route[key], knownName);
  }

  async function show() {
    entries = undefined;
    found.textContent = 'Loading …';
    list.replaceChildren();
    const clinicId = select.value;
    try {
      const loaded = clinicId === OWN ? own : clinicId ? await cliniciansOf(clinicId) : [];
      // Another clinic was selected while this one was read.
      if (select.value !== clinicId) return;
      entries = loaded;
      remember(entries);
      draw();
      onNames();
    } catch (error) {
      if (select.value === clinicId) onFailure(error, found, show);
    }
  }

  function draw() {
    const wanted = find.value.trim().toLowerCase();
    const shown = (entries ?? []).filter(({ name }) => name.toLowerCase().includes(wanted));
    const clinic = select.value === OWN ? undefined : select.value;
    const all =
      clinic && !wanted
        ? [entryOf({ initials: '∗', name: 'All clinicians', route: { clinic } }, isAll())]
        : [];
    list.replaceChildren(...all, ...shown.map((entry) => entryOf(entry, isChosen(entry))));
    if (entries) found.textContent = wordsFor(shown.length);
  }

  const isAll = () => chosen.clinic === select.value && !chosen.clinician;
  const isChosen = ({ key, route }) => chosen[key] === route[key];

  function wordsFor(count) {
    if (select.options.length === 0) return 'Your token gives access to no record.';
    const noun = entries.every(({ key }) => key === 'clinician') ? 'clinician' : 'record';
    if (count === 0) return find.value ? `No ${noun} has this name.` : 'Nobody works here yet.';
    return countWords(count, noun);
  }

  select.addEventListener('change', () => {
    void show();
    const clinic = select.value === OWN ? undefined : select.value;
    // On a phone the list of clinicians stays open.
    location.hash = hrefOf({
      clinic,
      show: document.body.dataset.view === 'picker' && 'clinicians',
    });
  });
  find.addEventListener('input', draw);

  return {
    load,
    names,
    isEmpty: () => select.options.length === 0,
    mark(route) {
      chosen = route;
      const isOther = [...select.options].some(({ value }) => value === route.clinic);
      if (!isOther || select.value === route.clinic) return draw();
      select.value = route.clinic;
      void show();
    },
  };
}

function entryOf({ initials, name, kind, route }, isChosen) {
  return el(
    'li',
    {},
    el(
      'a',
      { href: hrefOf(route), class: 'person', 'aria-current': isChosen ? 'true' : undefined },
      el('span', { class: 'initials', 'aria-hidden': 'true' }, initials),
      el('span', {}, name),
      kind ? el('span', { class: 'born' }, kind) : undefined,
    ),
  );
}

/** `key` is the part of the route that holds the record's id. */
const personOf = (key, person, route) => ({
  key,
  initials: initialsOf(person),
  name: nameOf(person),
  knownName: fullName(person),
  route: { ...route, [key]: person.id },
});

const byName = (a, b) => a.name.localeCompare(b.name);

function ownOf({ clinicians, clients, sessions }) {
  return [
    ...clinicians.map((clinician) => personOf('clinician', clinician)).toSorted(byName),
    ...clients.map((client) => ({ ...personOf('list', client), kind: 'Client' })).toSorted(byName),
    ...sessions.map(({ id, client }, index) => ({
      key: 'session',
      initials: '·',
      name: sessions.length > 1 ? `Session ${index + 1}` : 'Session',
      route: { session: id, client: client?.id },
    })),
  ];
}

const optionOf = ({ id, name }) => el('option', { value: id }, name ?? 'Clinic');

async function cliniciansOf(clinicId) {
  const all = [];
  for (let after; ;) {
    const { data, errors } = await ask(CLINICIANS, { clinicId, after });
    if (errors.length > 0) throw new Refused(errors);
    const { clinic } = data;
    const people = clinic?.clinicians?.nodes ?? [];
    all.push(...people.map((person) => personOf('clinician', person, { clinic: clinicId })));
    after = clinic?.clinicians?.pageInfo.hasNextPage && clinic.clinicians.pageInfo.endCursor;
    if (!after) return all.toSorted(byName);
  }
}
