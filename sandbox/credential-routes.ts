import { invalid, PartnerApiFailure } from './errors.ts';
import type { Route } from './router.ts';
import { mintClinicianTokens, type Tokens } from './tokens.ts';
import type { World } from './world.ts';

interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Who the partner is, and the two levels of tokens. */
export function credentialRoutes(
  world: World,
  credentials: Credentials,
  tokens: Tokens,
): readonly Route[] {
  return [
    {
      template: 'POST /partners/authenticate',
      isOpen: true,
      handle({ body }) {
        const { clientId, clientSecret } = credentialsIn(body);
        if (clientId !== credentials.clientId || clientSecret !== credentials.clientSecret) {
          throw new PartnerApiFailure(401, 'UnauthorizedException', 'Invalid client credentials');
        }
        return tokens.issue();
      },
    },
    { template: 'GET /partners', handle: world.records.partner },
    {
      template: 'POST /clinicians/:clinicianId/authenticate',
      handle({ id }) {
        world.owned.clinician(id);
        return mintClinicianTokens();
      },
    },
  ];
}

function credentialsIn(body: unknown): Credentials {
  const given: Record<string, unknown> =
    typeof body === 'object' && body !== null ? { ...body } : {};
  const { clientId, clientSecret } = given;
  if (typeof clientId === 'string' && typeof clientSecret === 'string') {
    return { clientId, clientSecret };
  }
  throw invalid(
    ...(['clientId', 'clientSecret'] as const)
      .filter((field) => typeof given[field] !== 'string')
      .map((field) => `${field} must be a string`),
  );
}
