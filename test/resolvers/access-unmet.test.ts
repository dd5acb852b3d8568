import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';

const SCORES = `{ events { nodes { ... on AssessmentCompleted {
  assessmentScoreId client { clientId firstName } } } } }`;

describe('the assessment of a client whom nobody has met', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await openGateway();
  });
  afterEach(() => gateway.close());

  const assess = async (client: number): Promise<string | undefined> => {
    const [score] = gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(client));
    await gateway.sandbox.delivered();
    gateway.sandbox.resetCounts();
    return score;
  };
  const asks = async (kind: 'organization' | 'clinic' | 'clinician', nth: number) =>
    viewerWith(gateway, [`${kind}:${gateway.sandbox.ids[kind](nth)}`]);

  it.each(['clinician', 'clinic', 'organization'] as const)(
    'is shown to the %s in whose list the client stands, and to no other',
    async (kind) => {
      const score = await assess(0);
      const client = {
        clientId: gateway.sandbox.ids.client(0),
        firstName: expect.any(String),
      };
      const other = await (await asks(kind, 1))(SCORES);
      expect([other.data.events.nodes, other.errors]).toEqual([[], undefined]);
      const own = await (await asks(kind, 0))(SCORES);
      expect(own.data.events.nodes).toEqual([{ assessmentScoreId: score, client }]);
    },
  );

  it('costs a look through the list, and that once a minute', async () => {
    const ask = await asks('clinician', 1);
    const pagesReadFor = async (client: number): Promise<number> => {
      await assess(client);
      await ask(SCORES);
      return gateway.sandbox.countOf('GET /clinicians/:clinicianId/clients');
    };
    expect(await pagesReadFor(0)).toBeGreaterThan(0);
    expect(await pagesReadFor(1)).toBe(0);
  });
});
