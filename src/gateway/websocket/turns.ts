/** Two thousand a second: five thousand clients are back within three. */
const AT_ONCE = 50;
const EVERY_MS = 25;

/**
 * After a restart everyone comes back in the same second: handshakes take turns, so that queries and webhooks are
 * answered in between. One that comes alone does not wait.
 */
export function createTurns(): (task: () => void) => void {
  const waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let taken = 0;

  function next(): void {
    const turn = waiting.splice(0, AT_ONCE);
    taken = turn.length;
    for (const task of turn) task();
    if (taken > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return (task) => {
    timer ??= setInterval(next, EVERY_MS).unref();
    if (taken >= AT_ONCE) {
      waiting.push(task);
      return;
    }
    taken += 1;
    task();
  };
}
