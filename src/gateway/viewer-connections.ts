/** How many connections that stay open each viewer has: sockets and event streams. */
export function createViewerConnections(most: number) {
  const counts = new Map<string, number>();
  return {
    /** False if the viewer has as many as there may be. */
    enter(subject: string): boolean {
      const count = counts.get(subject) ?? 0;
      if (count >= most) return false;
      counts.set(subject, count + 1);
      return true;
    },
    leave(subject: string): void {
      const count = counts.get(subject) ?? 0;
      if (count > 1) counts.set(subject, count - 1);
      else counts.delete(subject);
    },
  };
}

export type ViewerConnections = ReturnType<typeof createViewerConnections>;
