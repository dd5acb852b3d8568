/** Counts what each viewer uses at a time: no one may take all of it. */
export function createViewerLimit(max: number) {
  const usedBySubject = new Map<string, number>();

  return {
    /** False if the viewer has reached the limit. */
    acquire(subject: string, amount = 1): boolean {
      const used = usedBySubject.get(subject) ?? 0;
      if (used >= max) return false;
      usedBySubject.set(subject, used + amount);
      return true;
    },
    release(subject: string, amount = 1): void {
      const left = (usedBySubject.get(subject) ?? 0) - amount;
      if (left > 0) usedBySubject.set(subject, left);
      else usedBySubject.delete(subject);
    },
  };
}
