import './scalars.ts';
import './organization.ts';
import './clinic.ts';
import './program.ts';
import './clinician.ts';
import './client.ts';
import './session.ts';
import './progress-note.ts';
import './transcript.ts';
import './mdm.ts';
import './assessment.ts';
import './assessment-score.ts';
import './magic-edit.ts';
import './query.ts';
import './node-query.ts';
import './event-log.ts';
import './subscription.ts';
import './note-change.ts';
import './secondary-clinicians.ts';
import './clinician-tokens.ts';
import { builder } from './builder.ts';

builder.mutationType({ description: 'What can be changed. Every expected outcome is a type.' });

/** What frontends are promised. */
export const schema = builder.toSchema({ sortSchema: false });
