import type { Switches } from '../control/switches.ts';
import type { PartnerData } from '../data/partner-data.ts';
import { notFound } from '../http/errors.ts';
import type { Route } from '../http/router.ts';
import { mdmText } from '../text/mdm-text.ts';
import { transcriptText } from '../text/transcript-text.ts';

/** The artifacts of a session, and assessment scores. */
export function sessionRoutes(data: PartnerData, switches: Readonly<Switches>): readonly Route[] {
  const { seed, ids, notes, find, scores } = data;

  /** A known defect of the API: a missing transcript or MDM is a 200 whose body describes the error. */
  function notReady(noun: string) {
    if (switches.notReadyAs404) throw notFound(noun);
    return { error: `${noun} not found`, statusCode: 404, message: `No ${noun} for this session` };
  }

  return [
    {
      template: 'GET /sessions/:sessionId/progress-note',
      handle({ id }) {
        const note = notes.ofSession(find.session(id));
        if (!note) throw notFound('Progress note');
        return notes.record(note);
      },
    },
    {
      template: 'GET /sessions/:sessionId/transcript',
      handle({ id }) {
        const session = find.session(id);
        if (session.transcript !== 'ready') return notReady('Transcript');
        return {
          sessionId: ids.idOf('session', session.key),
          transcriptItems: transcriptText(seed, session),
        };
      },
    },
    {
      template: 'GET /sessions/:sessionId/mdm',
      handle({ id }) {
        const session = find.session(id);
        return session.hasMdm ? mdmText(seed, ids, session) : notReady('MDM');
      },
    },
    {
      template: 'GET /assessment-scores/:id',
      handle({ id }) {
        const score = scores.find(id);
        if (!score) throw notFound('Assessment score');
        return score;
      },
    },
  ];
}
