import { type Audit, serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';

let gateway: Gateway;
let token: string;
beforeAll(async () => {
  gateway = await openGateway();
  token = await tokenFor(['partner']);
});
afterAll(() => gateway.close());

const audits = serverAudits({
  url: () => `${gateway.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  },
});

/**
 * All three are MAY, and ask that a query sent by GET be answered. It is not, on purpose: a URL is logged by proxies and
 * kept in histories, and here it could contain patient data. 9C48, which forbids mutations by GET, is met.
 */
const BY_GET = new Set(['5A70', 'D6D5', '6A70']);

const named = (audit: Audit) => [audit.id, audit.name, audit] as const;

describe('GraphQL over HTTP', () => {
  it.each(audits.filter(({ id }) => !BY_GET.has(id)).map(named))(
    '%s %s',
    async (_id, _name, audit) => {
      const result = await audit.fn();
      expect(result.status, 'reason' in result ? result.reason : '').toBe('ok');
    },
  );
});

describe('GraphQL over HTTP by GET', () => {
  it.each(audits.filter(({ id }) => BY_GET.has(id)).map(named))(
    'skips %s %s',
    async (_id, name, audit) => {
      expect(name).toMatch(/^MAY .*GET/);
      expect((await audit.fn()).status).toBe('notice');
    },
  );

  it('skips no other audit', () => {
    expect(audits.filter(({ id }) => BY_GET.has(id))).toHaveLength(BY_GET.size);
  });
});
