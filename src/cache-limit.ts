/** Options of an LRU cache with at most so many entries. With `max`, lru-cache would allocate memory for all of them at once. */
export const upTo = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
