/**
 * Gathers what is asked for within one turn of the event loop and asks for it in one go; whoever
 * asks for the same key meanwhile shares the answer.
 */
export function createPerTick<Value>(
  load: (keys: readonly string[]) => Promise<readonly Value[]>,
): (key: string) => Promise<Value> {
  let wanted = new Map<string, PromiseWithResolvers<Value>>();

  async function loadWanted() {
    const batch = wanted;
    wanted = new Map();
    try {
      const values = await load([...batch.keys()]);
      const answers = [...batch.values()];
      values.forEach((value, index) => answers[index]?.resolve(value));
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  return (key) => {
    const asked = wanted.get(key);
    if (asked) return asked.promise;
    if (wanted.size === 0) setImmediate(() => void loadWanted());
    const answer = Promise.withResolvers<Value>();
    wanted.set(key, answer);
    return answer.promise;
  };
}
