/** Loaded before the server: takes nearly all of 256 megabytes on one signal, and gives it back on another. */
const MOST_BYTES = 240 * 2 ** 20;
const BLOCK = 100_000;
const hoard: number[][] = [];

process.on('SIGUSR2', () => {
  const left = MOST_BYTES - process.memoryUsage().heapUsed;
  // Copies: an array that grows would leave more garbage than there is room for.
  const block = Array.from({ length: BLOCK }, () => 0.5);
  while (hoard.length < left / 8 / BLOCK) hoard.push([...block]);
});
process.on('SIGUSR1', () => {
  hoard.length = 0;
});
