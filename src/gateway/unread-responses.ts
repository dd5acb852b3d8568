import type { ServerResponse } from 'node:http';

/** Shorter responses are not counted. */
export const LARGE_CHARACTERS = 65_536;

/** The large responses that each viewer has not read yet: those that are never read must not fill the memory. */
export function createUnreadResponses(maxCharactersPerViewer: number) {
  const unreadBySubject = new Map<string, number>();

  return {
    /** Counts a response until it is sent or its client disconnects. False if the viewer has to read others first. */
    add(res: ServerResponse, subject: string, { length }: string): boolean {
      if (length < LARGE_CHARACTERS || res.closed) return true;
      const unread = unreadBySubject.get(subject) ?? 0;
      if (unread > maxCharactersPerViewer) return false;
      unreadBySubject.set(subject, unread + length);
      res.once('close', () => {
        const left = (unreadBySubject.get(subject) ?? 0) - length;
        if (left > 0) unreadBySubject.set(subject, left);
        else unreadBySubject.delete(subject);
      });
      return true;
    },
  };
}
