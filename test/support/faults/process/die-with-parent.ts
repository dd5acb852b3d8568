/** Loaded before every server of a test: a test that fails half way, or is killed itself, must not leave it running. */
const parent = process.ppid;
const LOOK_EVERY_MS = 1_000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, LOOK_EVERY_MS).unref();
