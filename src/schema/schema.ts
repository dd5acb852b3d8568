import './records.ts';
import './events.ts';
import './session.ts';
import './query.ts';
import './event-log.ts';
import './mutations.ts';
import { builder } from './builder.ts';

/** The schema that frontends see. */
export const schema = builder.toSchema({ sortSchema: false });
