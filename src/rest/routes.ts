import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';

/** A route's template, such as `/sessions/:sessionId/mdm`, and the paths built from it. */
export interface Route {
  readonly template: string;
  readonly path: (id: Uuid | undefined) => string;
}

/**
 * Nothing but a UUID gets into a path. `encodeURIComponent('..')` is `..`, so encoding alone would let an id
 * climb out of its template.
 */
export function route(template: string): Route {
  const [before = '', after = ''] = template.split(/:\w+/);
  return {
    template,
    path(id) {
      const uuid = toUuid(id);
      if (!uuid) throw new TypeError(`${template} wants a UUID, but got something else`);
      return before + uuid + after;
    },
  };
}

export const routes = {
  note: route('/progress-notes/:progressNoteId'),
  magicEdit: route('/progress-notes/:progressNoteId/magic-edit'),
  regenerate: route('/progress-notes/:progressNoteId/regenerate'),
  noteOfSession: route('/sessions/:sessionId/progress-note'),
  transcript: route('/sessions/:sessionId/transcript'),
  mdm: route('/sessions/:sessionId/mdm'),
  score: route('/assessment-scores/:assessmentScoreId'),
  secondaryClinicians: route('/clients/:clientId/secondary-clinicians'),
  authenticateClinician: route('/clinicians/:clinicianId/authenticate'),
};

export const PARTNERS = '/partners';
export const AUTHENTICATE = '/partners/authenticate';

/** Where single records are cached: what `forget` takes. Lists have `pathOf`. */
export const paths = {
  note: routes.note.path,
  noteOfSession: routes.noteOfSession.path,
  transcript: routes.transcript.path,
  mdm: routes.mdm.path,
  score: routes.score.path,
  partner: (): string => PARTNERS,
};

/** The same filter gives the same text, in whatever order its fields were named. */
export function queryOf(filter: Readonly<Record<string, string | undefined>> | undefined): string {
  if (!filter) return '';
  const pairs: string[] = [];
  for (const name of Object.keys(filter).toSorted()) {
    const value = filter[name];
    // Half of a surrogate pair can't be encoded; a `+` must be, or it would be read as a space.
    if (value !== undefined) pairs.push(`${name}=${encodeURIComponent(value.toWellFormed())}`);
  }
  return pairs.join('&');
}
