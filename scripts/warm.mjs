// Runs after `npm ci`. Starts the gateway once and closes it, so that the compile cache is filled before the first
// `npm start`. Nothing depends on it: if it can't run, the first start takes a little longer.
if (Number(process.versions.node.split('.')[0]) >= 24) {
  const { mkdtemp, rm } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  const dir = await mkdtemp(join(tmpdir(), 'partner-graph-warm-'));
  try {
    await import('./check-node.mjs');
    const { readConfig } = await import('../src/config.ts');
    const { createLog } = await import('../src/observability/log.ts');
    const { openServer } = await import('../src/server.ts');
    const config = readConfig({ PORT: '0', EVENT_STORE_DIR: dir, SANDBOX_PULSE_MS: '0' });
    const server = await openServer(config, createLog('silent'));
    await server[Symbol.asyncDispose]();
    // The gateway loads it with the first query that is repeated.
    await import('graphql-jit');
  } catch {
    // The sources may not be there yet (an image installs packages first), or the file system may be read-only.
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
