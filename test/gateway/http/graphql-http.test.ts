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

const auditsWith = (contentType: string) =>
  serverAudits({
    url: () => `${gateway.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      if (headers.get('content-type') === 'application/json')
        headers.set('content-type', contentType);
      return fetch(url, { ...init, headers });
    },
  });

const audits = auditsWith('application/json');
/** With a charset in the content type, a request takes Yoga's own path and not the shorter one for plain JSON. */
const auditsOfYoga = auditsWith('application/json; charset=utf-8');

/**
 * All three are MAY, and ask that a query sent by GET be answered. It is not, on purpose: a URL is logged by proxies and
 * kept in histories, and here it could contain patient data. 9C48, which forbids mutations by GET, is met.
 */
const BY_GET = new Set(['5A70', 'D6D5', '6A70']);

const named = (audit: Audit) => [audit.id, audit.name, audit] as const;

describe.each([
  ['GraphQL over HTTP', audits],
  ['GraphQL over HTTP, through Yoga', auditsOfYoga],
])('%s', (_, all) => {
  it.each(all.filter(({ id }) => !BY_GET.has(id)).map(named))(
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
