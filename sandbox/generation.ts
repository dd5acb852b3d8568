import type { Schedule } from './control/schedule.ts';
import type { Switches } from './control/switches.ts';
import type { Note } from './data/notes.ts';
import type { PartnerData } from './data/partner-data.ts';
import type { Session } from './data/sessions.ts';
import { applyInstructions } from './text/apply-instructions.ts';
import type { EventFactory, WebhookEvent } from './webhooks/events.ts';

export interface SessionPlan {
  readonly failTranscription?: boolean;
  /** Default: true if the client's clinician is a prescriber. */
  readonly prescriber?: boolean;
  /** Finalizes the note automatically, `finalizeMs` after it is generated. */
  readonly finalize?: boolean;
}

export type Generation = ReturnType<typeof createGeneration>;

/** The most sessions started while the sandbox runs. Beyond this number the oldest are deleted. */
const MAX_STARTED_SESSIONS = 20_000;

/** The asynchronous work of the service: transcripts, notes, rewrites, MDM, scores, and their events. */
export function createGeneration(
  { sessions, notes, scores }: PartnerData,
  switches: Readonly<Switches>,
  schedule: Schedule,
  events: EventFactory,
  emit: (event: WebhookEvent) => void,
) {
  const started: Session[] = [];

  function start(client: number, prescriber?: boolean): Session {
    const session = sessions.start(client, prescriber);
    started.push(session);
    const oldest = started.length > MAX_STARTED_SESSIONS ? started.shift() : undefined;
    if (oldest) {
      notes.delete(oldest);
      sessions.delete(oldest);
    }
    return session;
  }

  function transcribe(session: Session): Note | undefined {
    const note = notes.ofSession(session);
    session.transcript = 'ready';
    if (note) notes.store(note);
    emit(events.transcriptReady(session));
    return note;
  }

  function generateNote(note: Note) {
    notes.assignId(note);
    emit(events.note('progress_note_generated', note));
  }

  function finalize(note: Note) {
    if (note.isFinalized) return;
    note.isFinalized = true;
    note.pendingRewrites = 0;
    notes.store(note);
    emit(events.note('progress_note_finalized', note));
  }

  function processRecording(session: Session, plan: SessionPlan) {
    if (plan.failTranscription) {
      session.transcript = 'failed';
      emit(events.transcriptError(session));
      return;
    }
    const note = transcribe(session);
    if (!note) return;
    schedule.after(switches.noteMs / 2, () => (note.partialSections = 1));
    schedule.after(switches.noteMs, () => {
      generateNote(note);
      if (plan.finalize) schedule.after(switches.finalizeMs, () => finalize(note));
      if (!session.isPrescriber) return;
      schedule.after(switches.mdmMs, () => {
        session.hasMdm = true;
        emit(events.mdmIdentified(session));
      });
    });
  }

  function completeRewrite(note: Note, userInstructions: string | undefined) {
    // The note may have been finalized meanwhile: then it does not change.
    if (note.isFinalized) return;
    note.pendingRewrites -= 1;
    note.rewrites += 1;
    if (userInstructions === undefined) note.revision += 1;
    note.content =
      userInstructions === undefined
        ? undefined
        : applyInstructions(notes.contentOf(note), userInstructions);
    const { newNoteIdEvery } = switches;
    if (newNoteIdEvery > 0 && note.rewrites % newNoteIdEvery === 0) notes.assignId(note);
    emit(events.note('progress_note_regenerated', note));
  }

  return {
    finalize,
    startSession(client: number, plan: SessionPlan = {}): Session {
      const session = start(client, plan.prescriber);
      schedule.after(switches.transcriptMs, () => processRecording(session, plan));
      return session;
    },
    /** A session that gets its transcript and its note at once: two events. */
    finishSession(client: number) {
      const note = transcribe(start(client));
      if (note) generateNote(note);
    },
    /** Accepts a magic edit, or a regeneration if there are no instructions. */
    rewrite(note: Note, userInstructions?: string) {
      note.pendingRewrites += 1;
      notes.store(note);
      schedule.after(switches.rewriteMs, () => completeRewrite(note, userInstructions));
    },
    completeAssessments(client: number, count: number): readonly string[] {
      const completed = scores.complete(client, count);
      emit(events.assessmentCompleted(client, completed));
      return completed.map(({ id }) => id);
    },
  };
}
