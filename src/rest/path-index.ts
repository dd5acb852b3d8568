/** Which keys lie under a path: the path itself, and all pages and filters of a list. */
export interface PathIndex {
  add(path: string, key: string): void;
  remove(path: string, key: string): void;
  under(path: string): Iterable<string>;
}

export function createPathIndex(): PathIndex {
  const keysByPath = new Map<string, Set<string>>();
  return {
    // Most paths name one record and are their own key: those need no entry.
    add(path, key) {
      if (key === path) return;
      const keys = keysByPath.get(path);
      if (keys) keys.add(key);
      else keysByPath.set(path, new Set([key]));
    },
    remove(path, key) {
      if (key === path) return;
      const keys = keysByPath.get(path);
      if (keys?.delete(key) && keys.size === 0) keysByPath.delete(path);
    },
    under: (path) => [path, ...(keysByPath.get(path) ?? [])],
  };
}
