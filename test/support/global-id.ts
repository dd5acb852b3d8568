import { type GlobalIds, createGlobalIds } from '../../src/schema/global-id.ts';
import type { Uuid } from '../../src/uuid.ts';
import type { Gateway } from './gateway.ts';

type PlainType = 'Organization' | 'Clinic' | 'Program' | 'Clinician' | 'Client';

/** Makes the ids that a gateway over this sandbox makes. */
export const idsOf = ({ sandbox }: Pick<Gateway, 'sandbox'>): GlobalIds =>
  createGlobalIds(sandbox.connection.clientSecret);

/** The ids that need no signature. */
export const plainId = (type: PlainType, id: string): string =>
  createGlobalIds('any secret').encode({ type, id: id });

export const sessionId = (gateway: Pick<Gateway, 'sandbox'>, id: string, clientId?: string) =>
  idsOf(gateway).encode({ type: 'Session', id: id, clientId: clientId as Uuid });

export const artifactId = (
  gateway: Pick<Gateway, 'sandbox'>,
  type: 'ProgressNote' | 'Transcript' | 'MDM',
  session: string,
  clientId?: string,
) => idsOf(gateway).encode({ type, sessionId: session as Uuid, clientId: clientId as Uuid });
