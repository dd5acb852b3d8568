/** Loaded before the server: throws an uncaught error when a test sends a signal. */
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('Canary Szymborska, born 1923-07-02');
  });
});
process.on('SIGUSR1', () => void Promise.reject(new Error('Canary Szymborska')));
// Over the limit of file sizes a write should fail, as on a broken disk, and not end the process.
process.on('SIGXFSZ', () => undefined);
