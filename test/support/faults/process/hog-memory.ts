/** Loaded before the server: allocates nearly all of 256 megabytes on one signal, and frees it on another. */
const MAX_BYTES = 240 * 2 ** 20;
const BLOCK = 100_000;
const AGAIN_MS = 50;
let hoard: number[][] = [];
let filling: NodeJS.Timeout | undefined;

function fill(): void {
  const left = MAX_BYTES - process.memoryUsage().heapUsed;
  // Copies: a growing array would leave more garbage than there is memory for.
  const block = Array.from({ length: BLOCK }, () => 0.5);
  const blocks = Math.floor(left / 8 / BLOCK) - 1;
  for (let n = 0; n < blocks; n += 1) hoard.push([...block]);
}

process.on('SIGUSR2', () => {
  fill();
  // What was garbage then is free memory later.
  filling = setInterval(fill, AGAIN_MS).unref();
});
process.on('SIGUSR1', () => {
  clearInterval(filling);
  hoard = [];
});
