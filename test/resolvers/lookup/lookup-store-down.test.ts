import { describe, expect, it } from 'vitest';

import { openGateway, tokenFor } from '../../support/gateway.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';

describe.skipIf(!redisAvailable)('with the store down', () => {
  it('a record that a grant names is still found', async () => {
    await using redis = await startRedis();
    await using gateway = await openGateway({ env: { REDIS_URL: redis.url } });
    await redis.kill();
    const { clinic, clinician } = gateway.sandbox.ids;
    const grants = [`clinic:${clinic(0)}`, `clinician:${clinician(0)}`];
    const { data, errors } = await gateway.query(
      '{ viewer { clinics { name clients(first: 1) { totalCount } } clinicians { lastName } } }',
      {},
      { authorization: `Bearer ${await tokenFor(grants)}` },
    );
    expect(errors).toBeUndefined();
    expect(data.viewer.clinics[0].name).toEqual(expect.any(String));
    expect(data.viewer.clinicians[0].lastName).toEqual(expect.any(String));
  });
});
