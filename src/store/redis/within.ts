import { StoreUnavailable } from '../errors.ts';

/** Nothing waits for ever: a server that hangs keeps its socket, and says nothing. */
export async function within<Result>(promise: Promise<Result>, deadlineMs: number) {
  const late = Promise.withResolvers<never>();
  const error = new StoreUnavailable(`Redis did not answer within ${deadlineMs} ms`);
  const timer = setTimeout(() => late.reject(error), deadlineMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
