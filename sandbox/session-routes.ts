import { notFound } from './errors.ts';
import { mdmOf } from './mdm-text.ts';
import type { Route } from './router.ts';
import type { Switches } from './switches.ts';
import { transcriptOf } from './transcript-text.ts';
import type { World } from './world.ts';

/** What comes of a session, and scores. */
export function sessionRoutes(world: World, switches: Readonly<Switches>): readonly Route[] {
  const { seed, ids, notes, owned, scores } = world;

  /** The API's known defect: an artifact that is not there is a 200 that describes an error. */
  function notReady(what: string) {
    if (switches.notReadyAs404) throw notFound(what);
    return { error: `${what} not found`, statusCode: 404, message: `No ${what} for this session` };
  }

  return [
    {
      template: 'GET /sessions/:sessionId/progress-note',
      handle({ id }) {
        const note = notes.ofSession(owned.session(id));
        if (!note) throw notFound('Progress note');
        return notes.view(note);
      },
    },
    {
      template: 'GET /sessions/:sessionId/transcript',
      handle({ id }) {
        const session = owned.session(id);
        if (session.transcript !== 'ready') return notReady('Transcript');
        return {
          sessionId: ids.idOf('session', session.key),
          transcriptItems: transcriptOf(seed, session),
        };
      },
    },
    {
      template: 'GET /sessions/:sessionId/mdm',
      handle({ id }) {
        const session = owned.session(id);
        return session.hasMdm ? mdmOf(seed, ids, session) : notReady('MDM');
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
