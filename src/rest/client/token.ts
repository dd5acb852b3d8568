import type { Clock } from '../../clock.ts';
import { authenticate } from '../endpoints.ts';
import { PartnerContractBroken, PartnerCredentialsRefused, PartnerError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { PartnerObserver } from '../partner.ts';

interface Token {
  readonly value: string;
  readonly obtainedAt: number;
  readonly expiresAt: number;
}

/** Documented; used if an answer does not say. */
const LIFETIME_S = 3600;
const RENEW_BEFORE_MS = 5 * 60_000;
/** So that a token does not expire on its way. */
const LEEWAY_MS = 5000;
const RENEW_AGAIN_MS = 30_000;
const DISTRUST_PAUSE_MS = 60_000;
const REFUSED_PAUSE_MS = 30_000;
/** At two new tokens refused in a row it is not the token that is wrong. */
const MAX_REFUSALS = 2;

/** The partner's access token: one for all, obtained by one call at a time. */
export class Tokens {
  private token: Token | undefined;
  private pending: Promise<void> | undefined;
  private cancelRenewal: (() => void) | undefined;
  private isClosed = false;
  private distrustedAt = Number.NEGATIVE_INFINITY;
  private askedAt = Number.NEGATIVE_INFINITY;
  /** New tokens that were refused, one after the other. */
  private refusals = 0;
  private readonly requestToken: () => Promise<unknown>;
  private readonly clock: Clock;
  private readonly observer: PartnerObserver;

  constructor(requestToken: () => Promise<unknown>, clock: Clock, observer: PartnerObserver) {
    this.requestToken = requestToken;
    this.clock = clock;
    this.observer = observer;
  }

  /** The token, if there is one that is valid now. */
  current(): string | undefined {
    if (this.token && this.clock.now() >= this.token.expiresAt) this.token = undefined;
    return this.token?.value;
  }

  /** Resolves once there is a valid token. */
  async obtain(): Promise<void> {
    if (this.current() === undefined) await this.renew();
  }

  /** The API answered a request with this token. */
  accepted(value: string): void {
    if (this.refusals > 0 && value === this.token?.value) this.refusals = 0;
  }

  /** 401: dropped, if it is still the one in use. */
  refused(value: string): void {
    if (value !== this.token?.value) return;
    this.token = undefined;
    this.refusals += 1;
  }

  /** A 403 that may mean an unknown token: dropped likewise, but at most once a minute. */
  distrusted(value: string): void {
    const now = this.clock.now();
    if (value !== this.token?.value || now - this.distrustedAt < DISTRUST_PAUSE_MS) return;
    this.distrustedAt = now;
    this.token = undefined;
  }

  get ageMs(): number | undefined {
    return this.token && this.clock.now() - this.token.obtainedAt;
  }

  close(): void {
    this.isClosed = true;
    this.cancelRenewal?.();
  }

  private renew(): Promise<void> {
    this.pending ??= this.request().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  private async request(): Promise<void> {
    const { clock } = this;
    if (this.refusals >= MAX_REFUSALS && clock.now() - this.askedAt < REFUSED_PAUSE_MS) {
      throw new PartnerCredentialsRefused(authenticate.template, 'new access tokens are refused');
    }
    this.askedAt = clock.now();
    try {
      this.token = tokenOf(await this.requestToken(), clock.now());
    } catch (error) {
      if (!(error instanceof PartnerError) || !REFUSALS.has(error.code)) throw error;
      this.refusals = MAX_REFUSALS;
      throw new PartnerCredentialsRefused(authenticate.template, 'the credentials were refused');
    }
    const lifetimeMs = this.token.expiresAt - this.token.obtainedAt;
    this.renewIn(lifetimeMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 5));
    this.observer.tokenRenewed?.();
  }

  /** In the background; while it fails the present token goes on being used. */
  private renewIn(ms: number): void {
    this.cancelRenewal?.();
    if (this.isClosed) return;
    this.cancelRenewal = this.clock.after(ms, () => {
      this.renew().catch((error: unknown) => {
        const code = error instanceof PartnerError ? error.code : 'INTERNAL';
        this.observer.tokenRenewalFailed?.(code);
        this.renewIn(RENEW_AGAIN_MS);
      });
    });
  }
}

/** Whatever the API finds wrong with an authentication is wrong with the credentials. */
const REFUSALS: ReadonlySet<string> = new Set([
  'BAD_USER_INPUT',
  'NOT_FOUND',
  'UPSTREAM_CREDENTIALS',
]);

function tokenOf(body: unknown, now: number): Token {
  const { accessToken: value, expiresIn }: JsonObject = isObject(body) ? body : {};
  // It goes into a header: visible ASCII only.
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value)) {
    throw new PartnerContractBroken(
      authenticate.template,
      'wanted an accessToken, but got something else',
    );
  }
  const told = Number(expiresIn);
  const seconds = told > 0 && told <= 24 * LIFETIME_S ? told : LIFETIME_S;
  const leewayMs = Math.min(LEEWAY_MS, (seconds * 1000) / 10);
  return { value, obtainedAt: now, expiresAt: now + seconds * 1000 - leewayMs };
}
