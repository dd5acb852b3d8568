/** Loaded before the server: nothing else runs in it for so long, at SIGUSR2. */
const forMs = Number(process.env['BLOCK_MS'] ?? '0');
const nobody = new Int32Array(new SharedArrayBuffer(4));

process.on('SIGUSR2', () => void Atomics.wait(nobody, 0, 0, forMs));
