import { byId, el } from '../dom.js';
import { ask, Refused } from '../graphql.js';
import { CLINICIANS, START } from '../operations.js';
import { hrefOf } from '../route.js';
import { countWords, initialsOf, nameOf } from '../words.js';

/** The clinicians that the token itself names. */
const OWN = 'own';

/** The clinics that the viewer may open, and the clinicians of the chosen one. */
export function createPicker(onFailure) {
  const [select, find, list, found, problem] = [
    'clinic',
    'find',
    'clinicians',
    'found',
    'picker-problem',
  ].map(byId);
  let own = [];
  /** Undefined until they are loaded. */
  let people;
  let chosen = {};

  /** Returns what to open on a first visit: the first clinic, or the only clinician. */
  async function load(route) {
    const { data, errors } = await ask(START);
    const { viewer } = data;
    own = viewer.clinicians;
    const groups = viewer.organizations?.nodes ?? [];
    const listed = groups.flatMap(({ clinics }) => clinics?.nodes ?? []);
    const others = viewer.clinics.filter(({ id }) => !listed.some((clinic) => clinic.id === id));
    select.replaceChildren(
      ...(own.length > 0 ? [el('option', { value: OWN }, 'Yours')] : []),
      ...others.map(optionOf),
      ...groups.map(({ name, clinics }) =>
        el('optgroup', { label: name ?? 'Organization' }, (clinics?.nodes ?? []).map(optionOf)),
      ),
    );
    if (errors.length > 0 && select.options.length === 0) throw new Refused(errors);
    problem.hidden = true;
    if (errors.length > 0)
      onFailure(new Refused(errors), problem, () =>
        load(chosen).catch((error) => onFailure(error, problem, () => load(chosen))),
      );
    const options = [...select.options].map(({ value }) => value);
    if (options.includes(route.clinic)) select.value = route.clinic;
    await show();
    if (own.length > 0) return own.length === 1 ? { clinician: own[0].id } : undefined;
    return options.length > 0 ? { clinic: options[0] } : undefined;
  }

  async function show() {
    people = undefined;
    found.textContent = 'Loading …';
    list.replaceChildren();
    const clinicId = select.value;
    try {
      const loaded = clinicId === OWN ? own : clinicId ? await cliniciansOf(clinicId) : [];
      // Another clinic was chosen while this one was read.
      if (select.value !== clinicId) return;
      people = loaded.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
      draw();
    } catch (error) {
      if (select.value === clinicId) onFailure(error, found, show);
    }
  }

  function draw() {
    const wanted = find.value.trim().toLowerCase();
    const shown = (people ?? []).filter((person) => nameOf(person).toLowerCase().includes(wanted));
    const clinic = select.value === OWN ? undefined : select.value;
    const all =
      clinic && !wanted ? [entryOf(hrefOf({ clinic }), '∗', 'All clinicians', isAll())] : [];
    const each = shown.map((person) => {
      const href = hrefOf({ clinic, clinician: person.id });
      return entryOf(href, initialsOf(person), nameOf(person), person.id === chosen.clinician);
    });
    list.replaceChildren(...all, ...each);
    if (people) found.textContent = wordsFor(shown.length);
  }

  const isAll = () => chosen.clinic === select.value && !chosen.clinician;

  function wordsFor(count) {
    if (select.options.length === 0) return 'Your token gives access to no clinician.';
    if (count === 0) return find.value ? 'Nobody by that name here.' : 'Nobody works here yet.';
    return countWords(count, 'clinician');
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
    mark(route) {
      chosen = route;
      const isOther = [...select.options].some(({ value }) => value === route.clinic);
      if (!isOther || select.value === route.clinic) return draw();
      select.value = route.clinic;
      void show();
    },
  };
}

function entryOf(href, initials, name, isChosen) {
  return el(
    'li',
    {},
    el(
      'a',
      { href, class: 'person', 'aria-current': isChosen ? 'true' : undefined },
      el('span', { class: 'initials', 'aria-hidden': 'true' }, initials),
      name,
    ),
  );
}

const optionOf = ({ id, name }) => el('option', { value: id }, name ?? 'Clinic');

async function cliniciansOf(clinicId) {
  const all = [];
  for (let after; ;) {
    const { data, errors } = await ask(CLINICIANS, { clinicId, after });
    if (errors.length > 0) throw new Refused(errors);
    const { clinic } = data;
    all.push(...(clinic?.clinicians?.nodes ?? []));
    after = clinic?.clinicians?.pageInfo.hasNextPage && clinic.clinicians.pageInfo.endCursor;
    if (!after) return all;
  }
}
