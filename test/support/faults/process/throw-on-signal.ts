/** Loaded before the server: a fault of its own that nobody catches, whenever a test wants one. */
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('Sentinel Szymborska, born 1923-07-02');
  });
});
process.on('SIGUSR1', () => void Promise.reject(new Error('Sentinel Szymborska')));
// Past its limit on file sizes a write is to fail, as on a broken disk, and not to end the process.
process.on('SIGXFSZ', () => undefined);
