import type { Abandonable, Usage } from '../usage.ts';

interface Waiter {
  /** Undefined: the client itself, which waits for its token. */
  readonly usage: Usage | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The operations that wait for one call, each with a promise of its own: each may leave alone. */
export class Waiters {
  private readonly call: Abandonable;
  private waiters: Waiter[] = [];

  constructor(call: Abandonable) {
    this.call = call;
  }

  get isEmpty(): boolean {
    return this.waiters.length === 0;
  }

  /** Of the one who has waited longest. */
  get maxCalls(): number {
    return this.waiters[0]?.usage?.maxCalls ?? 0;
  }

  add(usage: Usage | undefined): Promise<unknown> {
    usage?.begins(this.call);
    return new Promise((resolve, reject) => {
      this.waiters.push({ usage, resolve, reject });
    });
  }

  /** The first who still can pays for an attempt. False: nobody can. */
  pay(isRetry: boolean): boolean {
    for (const { usage } of this.waiters) {
      if (!usage) return true;
      if (usage.calls >= usage.maxCalls) continue;
      usage.calls += 1;
      if (isRetry) usage.retried += 1;
      return true;
    }
    return false;
  }

  rejectOf(usage: Usage, error: unknown): void {
    const [left, staying] = [this.waiters, this.waiters.filter((waiter) => waiter.usage !== usage)];
    this.waiters = staying;
    for (const waiter of left) if (waiter.usage === usage) waiter.reject(error);
  }

  resolve(result: unknown): void {
    for (const waiter of this.waiters) {
      waiter.usage?.ends(this.call);
      waiter.resolve(result);
    }
  }

  reject(error: unknown): void {
    for (const waiter of this.waiters) {
      waiter.usage?.ends(this.call);
      waiter.reject(error);
    }
  }
}
