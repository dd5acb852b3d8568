import { StoreUnavailable } from '../errors.ts';
import type { Connection } from './connection.ts';

export interface Server {
  /** Another one after every start of the server. */
  readonly runId: string;
  readonly isPrimary: boolean;
  readonly replicas: number;
  readonly appendOnlyFile: boolean;
}

export const valueIn = (info: string, name: string) =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';

/**
 * Refuses a server that would forget what was acknowledged. INFO tells all of it, and is allowed where
 * CONFIG is not.
 */
export async function inspect(connection: Connection): Promise<Server> {
  // Not all sections come by default everywhere.
  const sections = ['server', 'memory', 'persistence', 'replication'];
  const info = (
    await Promise.all(sections.map((name) => connection.command<string>(['INFO', name])))
  ).join('\n');
  const version = valueIn(info, 'redis_version');
  const policy = valueIn(info, 'maxmemory_policy');
  if (Number.parseInt(version, 10) < 7) {
    throw new StoreUnavailable(`Redis 7 or newer is wanted, but this server is ${version}`);
  }
  if (policy !== 'noeviction') {
    throw new StoreUnavailable(
      `Redis must have maxmemory-policy noeviction, but it is ${policy}: events would be evicted`,
    );
  }
  return {
    runId: valueIn(info, 'run_id'),
    isPrimary: valueIn(info, 'role') !== 'slave',
    replicas: Number(valueIn(info, 'connected_slaves')),
    appendOnlyFile: valueIn(info, 'aof_enabled') === '1',
  };
}
