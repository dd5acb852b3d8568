import type { StoreSettings } from '../options.ts';
import type { Store } from '../store.ts';
import { StoreUnavailable } from '../errors.ts';

export function openRedis(_url: string, _settings: StoreSettings): Promise<Store> {
  return Promise.reject(new StoreUnavailable('the Redis engine is not built yet'));
}
