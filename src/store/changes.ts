export interface Changes {
  subscribe(listener: () => void): () => void;
  announce(): void;
}

/** Tells whoever listens that there is something new, and not what. */
export function createChanges(): Changes {
  const listeners = new Set<() => void>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce() {
      for (const listener of listeners) listener();
    },
  };
}
