import { ask } from './graphql.js';
import { UUIDS } from './operations.js';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The state of the page is in the fragment of the URL (after the #). So Back and reload work, and no id gets into a
 * server's log, because the fragment never leaves the browser.
 *
 * clinic, clinician: whose sessions are listed · list: the client whose sessions are listed · session, client: what is
 * open beside the list · show: `clients` or `clinicians` instead of the sessions
 */
export function readRoute() {
  const given = Array.from(new URLSearchParams(location.hash.slice(1)), ([name, value]) => [
    name,
    UUID.test(value) ? value.toLowerCase() : value,
  ]);
  const { clinic, clinician, list, client, session, show } = Object.fromEntries(given);
  return { clinic, clinician, list, client, session, show };
}

export function hrefOf(parts) {
  const given = Object.entries(parts).filter(([, value]) => value);
  return `#${new URLSearchParams(given)}`;
}

/** A link may have global ids. The URL then gets the UUIDs instead, because records are found in the lists by UUID. */
export async function useUuids() {
  const { hash } = location;
  const { show: _, ...named } = readRoute();
  const others = Object.entries(named).filter(([, id]) => id && !UUID.test(id));
  if (others.length === 0) return;
  // If this fails, reading the lists fails too and says so.
  const { data } = await ask(UUIDS, { ids: others.map(([, id]) => id) }).catch(() => ({}));
  const found = others.map(([name, id], at) => [name, data?.nodes[at]?.id ?? id]);
  if (location.hash === hash)
    history.replaceState(null, '', hrefOf({ ...readRoute(), ...Object.fromEntries(found) }));
}

/** Lists of clients belong to a clinic or a clinician. */
export const showsClients = ({ clinic, clinician, show }) =>
  show === 'clients' && Boolean(clinic || clinician);

/** Which pane a phone shows. */
export function viewOf({ clinic, clinician, list, session, show }) {
  if (session) return 'detail';
  return show !== 'clinicians' && (clinic || clinician || list) ? 'feed' : 'picker';
}

/** The record whose sessions are listed, and the filter for its events. A link may name only a session. */
export function scopeOf({ clinic, clinician, list, session }) {
  if (list) return { kind: 'client', filter: { clientId: list } };
  if (clinician) return { kind: 'clinician', filter: { clinicianId: clinician } };
  if (clinic) return { kind: 'clinic', filter: { clinicId: clinic } };
  return session ? { kind: 'session', filter: { sessionId: session } } : undefined;
}
