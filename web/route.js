/**
 * What is open is written behind the # of the address: Back works, a reload stays, and since that part never leaves the
 * browser, no id gets into a server's log.
 *
 * clinic, clinician: whose sessions are listed · list: the client whose sessions are listed · session, client: what is
 * open beside the list · show: `clients` or `clinicians` instead of the sessions
 */
export function readRoute() {
  const { clinic, clinician, list, client, session, show } = Object.fromEntries(
    new URLSearchParams(location.hash.slice(1)),
  );
  return { clinic, clinician, list, client, session, show };
}

export function hrefOf(parts) {
  const given = Object.entries(parts).filter(([, value]) => value);
  return `#${new URLSearchParams(given)}`;
}

/** Clients are listed of a clinic or a clinician. */
export const showsClients = ({ clinic, clinician, show }) =>
  show === 'clients' && Boolean(clinic || clinician);

/** Which pane a phone shows. */
export function viewOf({ clinic, clinician, list, session, show }) {
  if (session) return 'detail';
  return show !== 'clinicians' && (clinic || clinician || list) ? 'feed' : 'picker';
}

/** What the sessions are listed of, and the filter of its events. */
export function scopeOf({ clinic, clinician, list }) {
  if (list) return { kind: 'client', filter: { clientId: list } };
  if (clinician) return { kind: 'clinician', filter: { clinicianId: clinician } };
  return clinic ? { kind: 'clinic', filter: { clinicId: clinic } } : undefined;
}
