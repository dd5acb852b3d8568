import type { EventMaker, WebhookEvent } from './events.ts';
import { edited } from './magic.ts';
import type { Note } from './notes.ts';
import { isPrescriber as prescribes } from './layout.ts';
import type { Schedule } from './schedule.ts';
import type { Session } from './session-book.ts';
import type { Switches } from './switches.ts';
import type { World } from './world.ts';

export interface SessionPlan {
  readonly failTranscription?: boolean;
  /** Without it, as the client's clinician is. */
  readonly prescriber?: boolean;
  /** Signed by itself, `finalizeMs` after the note is there. */
  readonly finalize?: boolean;
}

/** What the service does on its own: transcribe, write, rewrite, identify, lock, and tell of it. */
export interface Service {
  readonly startSession: (client: number, plan?: SessionPlan) => Session;
  /** A session that is over, transcribed and written up at once: two events. */
  readonly finishSession: (client: number) => Session;
  /** Accepts a magic edit, or a regeneration if there are no instructions. */
  readonly rewrite: (note: Note, userInstructions?: string) => void;
  readonly finalize: (note: Note) => void;
  readonly completeAssessments: (client: number, count: number) => readonly string[];
}

/** Sessions that began while the sandbox runs; the oldest are forgotten past this. */
const MOST_LIVE_SESSIONS = 20_000;

export function createService(
  world: World,
  switches: Readonly<Switches>,
  schedule: Schedule,
  events: EventMaker,
  emit: (event: WebhookEvent) => void,
): Service {
  const { sessions, notes, scores } = world;
  const live: Session[] = [];

  function finalize(note: Note) {
    if (note.isFinalized) return;
    note.isFinalized = true;
    notes.keep(note);
    emit(events.note('progress_note_finalized', note));
  }

  function begin(client: number, isPrescriber?: boolean): Session {
    const usual = prescribes(world.roster.clinicianOf(client) ?? 0);
    const session = sessions.add(client, isPrescriber ?? usual);
    live.push(session);
    const oldest = live.length > MOST_LIVE_SESSIONS ? live.shift() : undefined;
    if (oldest) {
      notes.forget(oldest);
      sessions.forget(oldest);
    }
    return session;
  }

  function generated(note: Note) {
    notes.name(note);
    emit(events.note('progress_note_generated', note));
  }

  function generate(note: Note, plan: SessionPlan) {
    const { session } = note;
    schedule.after(switches.noteMs / 2, () => (note.partialSections = 1));
    schedule.after(switches.noteMs, () => {
      generated(note);
      if (session.isPrescriber) schedule.after(switches.mdmMs, () => identify(session));
      if (plan.finalize) schedule.after(switches.finalizeMs, () => finalize(note));
    });
  }

  function identify(session: Session) {
    session.hasMdm = true;
    emit(events.mdmIdentified(session));
  }

  function transcribed(session: Session): Note | undefined {
    const note = notes.ofSession(session);
    session.transcript = 'ready';
    if (note) notes.keep(note);
    emit(events.transcriptReady(session));
    return note;
  }

  function transcribe(session: Session, plan: SessionPlan) {
    if (plan.failTranscription) {
      session.transcript = 'failed';
      emit(events.transcriptError(session));
      return;
    }
    const note = transcribed(session);
    if (note) generate(note, plan);
  }

  return {
    finalize,
    startSession(client, plan = {}) {
      const session = begin(client, plan.prescriber);
      schedule.after(switches.transcriptMs, () => transcribe(session, plan));
      return session;
    },
    finishSession(client) {
      const session = begin(client);
      const note = transcribed(session);
      if (note) generated(note);
      return session;
    },
    rewrite(note, userInstructions) {
      note.running += 1;
      notes.keep(note);
      schedule.after(switches.rewriteMs, () => {
        note.running -= 1;
        // Signed in the meantime: what was signed stays.
        if (note.isFinalized) return;
        note.rewrites += 1;
        rewriteContent(world, note, userInstructions);
        const { newNoteIdEvery } = switches;
        if (newNoteIdEvery > 0 && note.rewrites % newNoteIdEvery === 0) notes.name(note);
        emit(events.note('progress_note_regenerated', note));
      });
    },
    completeAssessments(client, count) {
      const completed = scores.complete(client, count);
      emit(events.assessmentCompleted(client, completed));
      return completed.map(({ id }) => id);
    },
  };
}

function rewriteContent(world: World, note: Note, userInstructions: string | undefined) {
  if (userInstructions === undefined) {
    note.content = undefined;
    note.revision += 1;
    return;
  }
  note.content = edited(world.notes.wholeOf(note), userInstructions);
}
