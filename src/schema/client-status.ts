import { builder } from './builder.ts';

const values = {
  AWAITING_INVITE: { description: 'Not invited yet.' },
  ACTIVE: { description: 'In treatment.' },
  ARCHIVED: { description: 'Put away.' },
  DECLINED: { description: 'Has declined the invitation.' },
  INVITE_SENT: { description: 'Invited, and has not answered yet.' },
  PENDING: { description: 'Not settled yet.' },
  UNKNOWN: { description: 'Also every value that this gateway does not know yet.' },
} as const;

export type ClientStatusName = keyof typeof values;

export const ClientStatus = builder.enumType('ClientStatus', {
  description: 'Where a client stands.',
  values,
});

/** The Partner API spells a status in lower case; one that it adds some day is UNKNOWN until we know it. */
export function clientStatusOf(status: string | null): ClientStatusName | null {
  if (status === null) return null;
  const name = status.toUpperCase();
  return Object.hasOwn(values, name) ? (name as ClientStatusName) : 'UNKNOWN';
}
