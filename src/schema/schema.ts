import './nodes/node.ts';
import './nodes/organization.ts';
import './nodes/client.ts';
import './nodes/clinic.ts';
import './events.ts';
import './nodes/session.ts';
import './nodes/artifacts.ts';
import './query.ts';
import './event-log.ts';
import './mutations/note-change.ts';
import './mutations/clinicians.ts';
import { builder } from './builder.ts';

builder.mutationType({ description: 'Mutations. Every expected outcome is a type in the result.' });

/** The schema that frontends see. */
export const schema = builder.toSchema({ sortSchema: false });
