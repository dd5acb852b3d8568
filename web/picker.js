import { byId, el } from './dom.js';
import { ask } from './graphql.js';
import { CLINICIANS, START } from './operations.js';
import { hrefOf } from './route.js';
import { initialsOf, nameOf } from './words.js';

/** Those that the token itself names. */
const OWN = 'own';

/** From what the viewer may reach down to one clinician. */
export function createPicker(onFailure) {
  const [select, find, list, found] = ['clinic', 'find', 'clinicians', 'found'].map(byId);
  let own = [];
  let people = [];
  let chosen = {};

  async function load(route) {
    const { viewer } = await ask(START);
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
    const options = [...select.options].map(({ value }) => value);
    if (options.includes(route.clinic)) select.value = route.clinic;
    await show();
    return { only: own.length === 1 && options.length === 1 ? own[0] : undefined };
  }

  async function show() {
    people = [];
    found.textContent = 'Loading …';
    list.replaceChildren();
    const clinicId = select.value;
    const loaded = clinicId === OWN ? own : clinicId ? await cliniciansOf(clinicId) : [];
    // Another clinic was chosen while this one was read.
    if (select.value !== clinicId) return;
    people = loaded.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    draw();
  }

  function draw() {
    const wanted = find.value.trim().toLowerCase();
    const shown = people.filter((person) => nameOf(person).toLowerCase().includes(wanted));
    list.replaceChildren(...shown.map(entryOf));
    found.textContent = wordsFor(shown.length);
  }

  function wordsFor(count) {
    if (select.options.length === 0) return 'Your token opens no clinician.';
    if (count === 0) return find.value ? 'Nobody by that name here.' : 'Nobody works here yet.';
    return count === 1 ? '1 clinician' : `${count} clinicians`;
  }

  function entryOf(person) {
    const clinic = select.value === OWN ? undefined : select.value;
    const isChosen = person.id === chosen.clinician;
    const href = hrefOf({ clinic, clinician: person.id });
    return el(
      'li',
      {},
      el(
        'a',
        { href, class: 'person', 'aria-current': isChosen ? 'true' : undefined },
        el('span', { class: 'initials', 'aria-hidden': 'true' }, initialsOf(person)),
        nameOf(person),
      ),
    );
  }

  select.addEventListener('change', () => void show().catch(onFailure));
  find.addEventListener('input', draw);

  return {
    load,
    mark(route) {
      chosen = route;
      draw();
    },
  };
}

const optionOf = ({ id, name }) => el('option', { value: id }, name ?? 'Clinic');

async function cliniciansOf(clinicId) {
  const all = [];
  for (let after; ;) {
    const { clinic } = await ask(CLINICIANS, { clinicId, after });
    all.push(...(clinic?.clinicians?.nodes ?? []));
    after = clinic?.clinicians?.pageInfo.hasNextPage && clinic.clinicians.pageInfo.endCursor;
    if (!after) return all;
  }
}
