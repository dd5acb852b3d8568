import { CLINICIANS } from '../data/hierarchy.ts';
import type { PartnerData } from '../data/partner-data.ts';
import { invalid, PartnerApiFailure } from '../http/errors.ts';
import type { Routes } from '../http/router.ts';
import { mintClinicianTokens, type Tokens } from '../http/tokens.ts';

/** The partner, the two levels of tokens, and secondary clinicians. */
export function partnerRoutes(
  { ids, records, find }: PartnerData,
  credentials: Readonly<{ clientId: string; clientSecret: string }>,
  tokens: Tokens,
): Routes {
  const assignedTo = new Map<number, Set<string>>();
  return {
    'POST /partners/authenticate'({ body }) {
      const { clientId, clientSecret } = credentialsIn(body);
      if (clientId !== credentials.clientId || clientSecret !== credentials.clientSecret) {
        throw new PartnerApiFailure(401, 'UnauthorizedException', 'Invalid client credentials');
      }
      return tokens.issue();
    },
    'GET /partners': records.partner,
    'POST /clinicians/:clinicianId/authenticate'({ id }) {
      find.clinician(id);
      return mintClinicianTokens();
    },
    'POST /clients/:clientId/secondary-clinicians'({ id, body }) {
      const client = find.client(id);
      const requested = clinicianIdsIn(body);
      const exists = (clinicianId: string) =>
        (ids.keyOf('clinician', clinicianId) ?? CLINICIANS) < CLINICIANS;
      if (!requested.every(exists)) {
        throw invalid('each value in clinicianIds must be a clinician of the organization');
      }
      const before = assignedTo.get(client) ?? new Set();
      assignedTo.set(client, before.union(new Set(requested)));
      return {
        clientId: ids.idOf('client', client),
        assigned: requested.filter((clinicianId) => !before.has(clinicianId)),
        skipped: requested.filter((clinicianId) => before.has(clinicianId)),
      };
    },
  };
}

function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

function credentialsIn(body: unknown) {
  const { clientId, clientSecret } = fieldsOf(body);
  if (typeof clientId === 'string' && typeof clientSecret === 'string')
    return { clientId, clientSecret };
  const fields = Object.entries({ clientId, clientSecret });
  const wrong = fields.filter(([, value]) => typeof value !== 'string');
  throw invalid(...wrong.map(([name]) => `${name} must be a string`));
}

/** The API does not document this body: `clinicianIds` is assumed. */
function clinicianIdsIn(body: unknown): readonly string[] {
  const { clinicianIds } = fieldsOf(body);
  if (!Array.isArray(clinicianIds)) throw invalid('clinicianIds must be an array');
  if (!clinicianIds.every((value) => typeof value === 'string'))
    throw invalid('each value in clinicianIds must be a UUID');
  return [...new Set(clinicianIds.map((id) => id.toLowerCase()))];
}
