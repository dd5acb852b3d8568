/** Loaded before the server: blocks its event loop at SIGUSR2 for two seconds, and at SIGUSR1 for good. */
const neverNotified = new Int32Array(new SharedArrayBuffer(4));

process.on('SIGUSR2', () => void Atomics.wait(neverNotified, 0, 0, 2_000));
process.on('SIGUSR1', () => void Atomics.wait(neverNotified, 0, 0));
