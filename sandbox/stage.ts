import { clinicOfClinician, organizationOfClinic } from './layout.ts';
import type { Place } from './roster.ts';
import type { Service, SessionPlan } from './service.ts';
import type { World } from './world.ts';

/** Hands on the made-up partner, for tests: what elsewhere time, clinicians and clients do. */
export interface Stage {
  readonly startSession: (clientId: string, plan?: SessionPlan) => SessionIds;
  /** The note's id as it is now; undefined while it is generated for the first time. */
  readonly noteIdOf: (sessionId: string) => string | undefined;
  readonly finalize: (noteId: string) => void;
  /** The ids of the new scores. One event for all of them. */
  readonly completeAssessments: (clientId: string, count?: number) => readonly string[];
  /** Enters a new client into the clinician's and the clinic's list. */
  readonly addClient: (clinicianId: string, place: Place) => string;
  readonly removeClient: (clientId: string) => void;
  /** To the end of another clinician's list, maybe of another clinic. Their sessions stay theirs. */
  readonly moveClient: (clientId: string, clinicianId: string) => void;
}

export interface SessionIds {
  readonly sessionId: string;
  readonly sessionExternalId: string | undefined;
  readonly clientId: string;
  readonly clinicianId: string;
  readonly clinicId: string;
  readonly organizationId: string;
}

export function createStage(world: World, service: Service): Stage {
  const { ids, owned, roster, notes } = world;
  return {
    startSession(clientId, plan) {
      const session = service.startSession(owned.client(clientId), plan);
      const clinic = clinicOfClinician(session.clinician);
      return {
        sessionId: ids.idOf('session', session.key),
        sessionExternalId: session.externalId,
        clientId,
        clinicianId: ids.idOf('clinician', session.clinician),
        clinicId: ids.idOf('clinic', clinic),
        organizationId: ids.idOf('organization', organizationOfClinic(clinic)),
      };
    },
    noteIdOf(sessionId) {
      const note = notes.ofSession(owned.session(sessionId));
      return note && notes.idOf(note);
    },
    finalize: (noteId) => service.finalize(owned.note(noteId)),
    completeAssessments: (clientId, count = 1) =>
      service.completeAssessments(owned.client(clientId), count),
    addClient: (clinicianId, place) =>
      ids.idOf('client', roster.add(owned.clinician(clinicianId), place)),
    removeClient: (clientId) => roster.remove(owned.client(clientId)),
    moveClient: (clientId, clinicianId) =>
      roster.move(owned.client(clientId), owned.clinician(clinicianId)),
  };
}
