/** Loaded before the server: blocks its event loop for BLOCK_MS at SIGUSR2. */
const forMs = Number(process.env['BLOCK_MS'] ?? '0');
const neverNotified = new Int32Array(new SharedArrayBuffer(4));

process.on('SIGUSR2', () => void Atomics.wait(neverNotified, 0, 0, forMs));
