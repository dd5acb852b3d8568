import { grantText, type Grant } from './grants.ts';

/** Who is asking. */
export interface Viewer {
  readonly subject: string;
  /** Sorted, each once. */
  readonly grants: readonly Grant[];
  /** The grants as one text: viewers of equal reach see the same records and may share answers about them. */
  readonly reach: string;
  /** Milliseconds since 1970. Undefined where nobody has to sign in. */
  readonly expiresAt: number | undefined;
}

export function createViewer(
  subject: string,
  grants: readonly Grant[],
  expiresAt: number | undefined,
): Viewer {
  return { subject, grants, reach: grants.map(grantText).join(' '), expiresAt };
}

/** Whoever asks a sandbox that has no AUTH_*: the patients are made up, and the server is on loopback. */
export const SANDBOX_VIEWER = createViewer('sandbox', [{ kind: 'partner' }], undefined);
