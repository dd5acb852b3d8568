/**
 * Forgeries come by the thousand, and a line for each would be the attack. One line a second says how
 * many there were and in which header, never what was in it. Valid deliveries are not held back by any
 * of this: they may come through the same proxy, and a MAC costs less than remembering who failed.
 */
export function createForgeryLog(header: string, warn: (message: string) => void): () => void {
  let count = 0;

  function tell(): void {
    warn(`webhook signature mismatch in header ${header} (${count} in the last second)`);
    count = 0;
  }

  return () => {
    count += 1;
    if (count === 1) setTimeout(tell, 1_000).unref();
  };
}
