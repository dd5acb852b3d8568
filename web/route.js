/**
 * What is open stands behind the # of the address: Back works, a reload stays, and since that part never leaves the
 * browser, no id gets into a server's log.
 */
export function readRoute() {
  const { clinic, clinician, client, session } = Object.fromEntries(
    new URLSearchParams(location.hash.slice(1)),
  );
  return { clinic, clinician, client, session };
}

export function hrefOf(parts) {
  const given = Object.entries(parts).filter(([, value]) => value);
  return `#${new URLSearchParams(given)}`;
}

export const viewOf = ({ clinician, session }) =>
  clinician ? (session ? 'detail' : 'feed') : 'picker';
