import { PartnerError } from '../../../src/rest/errors.ts';
import { createPartner, createUsage } from '../../../src/rest/partner.ts';
import type { Partner, PartnerOptions } from '../../../src/rest/partner.ts';
import type { Uuid } from '../../../src/uuid.ts';
import { openUpstream, uuid } from './upstream.ts';
import type { Script, Upstream, UpstreamOptions } from './upstream.ts';

export interface Setup extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly partner: Partner;
}

/** A partner over a scripted upstream. There is no wait between attempts unless `random` is given. */
export async function setUp(
  script: Script,
  options: PartnerOptions = {},
  upstreamOptions: UpstreamOptions = {},
): Promise<Setup> {
  const upstream = await openUpstream(script, upstreamOptions);
  const partner = createPartner(upstream.connection, { random: () => 0, ...options });
  return {
    upstream,
    partner,
    async [Symbol.asyncDispose]() {
      const closed = partner[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await closed;
    },
  };
}

export const id = (n: number): Uuid => uuid(n) as Uuid;

/** The loaders of a new operation. */
export const loadersOf = (partner: Partner, options?: Parameters<typeof createUsage>[0]) =>
  partner.loadersFor(createUsage(options));

/** The error that a promise was rejected with. */
export async function failureOf(promise: unknown): Promise<PartnerError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof PartnerError) return error;
    throw error;
  }
  throw new Error('wanted a failure, but it succeeded');
}

export const codeOf = async (promise: unknown): Promise<string> => (await failureOf(promise)).code;
