import type { Switches } from '../control/switches.ts';
import type { PartnerData } from '../data/partner-data.ts';
import { notFound } from '../http/errors.ts';
import type { Routes } from '../http/router.ts';
import { mdmText, transcriptText } from '../text/session-text.ts';

/** The artifacts of a session, and assessment scores. */
export function sessionRoutes(data: PartnerData, switches: Readonly<Switches>): Routes {
  const { seed, ids, notes, find, scores } = data;

  /** A known defect of the API: a missing transcript or MDM is a 200 whose body describes the error. */
  function notReady(noun: string) {
    if (switches.notReadyAs404) throw notFound(noun);
    return { error: `${noun} not found`, statusCode: 404, message: `No ${noun} for this session` };
  }

  return {
    'GET /sessions/:sessionId/progress-note'({ id }) {
      const note = notes.ofSession(find.session(id));
      if (!note) throw notFound('Progress note');
      return notes.record(note);
    },
    'GET /sessions/:sessionId/transcript'({ id }) {
      const session = find.session(id);
      if (session.transcript !== 'ready') return notReady('Transcript');
      return {
        sessionId: session.record.sessionId,
        transcriptItems: transcriptText(seed, session),
      };
    },
    'GET /sessions/:sessionId/mdm'({ id }) {
      const session = find.session(id);
      return session.hasMdm ? mdmText(seed, ids, session) : notReady('MDM');
    },
    'GET /assessment-scores/:id'({ id }) {
      const score = scores.find(id);
      if (!score) throw notFound('Assessment score');
      return score;
    },
  };
}
