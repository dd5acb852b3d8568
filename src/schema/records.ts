import { type Context, SIGNED_BYTES } from '../context.ts';
import { type MaybePromise, mapMaybePromise } from '../maybe-promise.ts';
import { findRow } from '../resolvers/access/prove.ts';
import { attribute, clinicOfClient, parentLink } from '../resolvers/records.ts';
import type { ClientRef, NodeRef, NodeType, SessionRef } from '../resolvers/refs.ts';
import type { Uuid } from '../uuid.ts';
import { RAW, builder, enumValues, objectType, optional, required } from './builder.ts';
import { listField } from './connection.ts';

builder.interfaceType('Node', {
  description: `A record that can be fetched again by its global id.
Every argument of type ID that names a record takes the global id or the bare UUID; \`node\` and \`nodes\` take global ids only.`,
  resolveType: (node) => node.type,
  fields: (t) => ({
    id: t.id({
      description:
        'Global id: opaque, and the same wherever the record appears, as long as its parents are known.',
      nullable: false,
      resolve: globalIdOf,
    }),
  }),
});

function globalIdOf(node: NodeRef, _args: unknown, ctx: Context): MaybePromise<string> {
  ctx.responseSize.add(SIGNED_BYTES);
  const session = node.type === 'Session' ? node : 'session' in node && node.session;
  if (session) return idWithSession(node.type, session, ctx);
  // A note without a session was requested by its bare UUID. The session named in a note's body is not proof.
  const { type } = node;
  return ctx.ids.encode(type === 'ProgressNote' ? { type, id: node.record.id! } : node);
}

/** The id of a session or of its note, transcript or MDM, including the session's client if that is proven. */
function idWithSession(type: NodeType, session: SessionRef, ctx: Context): MaybePromise<string> {
  const { id } = session;
  // A viewer whose grant names the session may not know its client.
  if (ctx.reach.holds('session', id)) return encode(type, id, undefined, ctx);
  // Rows of a cached page are shared by all operations, so each row is signed once.
  if (session.clientId)
    return ((session.globalIds ??= {})[type] ??= encode(type, id, session.clientId, ctx));
  // A client that an argument names goes into the id once a list has confirmed it.
  const confirmed = session.namedParents?.clientId ? findRow(session, ctx) : undefined;
  return mapMaybePromise(confirmed, (found) => encode(type, id, found?.clientId, ctx));
}

const encode = (type: NodeType, id: Uuid, clientId: Uuid | undefined, { ids }: Context) =>
  ids.encode({ type, id, sessionId: id, clientId });

objectType('Organization', 'An organization of the partner.', (t) => ({
  organizationId: t.expose('id', required('UUID', 'UUID of the organization.')),
  name: 'Name of the organization.',
  raw: RAW,
  clinics: listField('clinicsOfOrganization', 'The clinics of the organization.'),
  programs: listField('programsOfOrganization', 'The programs of the organization.'),
}));

objectType('Program', 'A program of an organization, in which clients take part.', (t) => ({
  programId: t.expose('id', required('UUID', 'UUID of the program.')),
  name: 'Name of the program.',
  raw: RAW,
}));

const statuses = {
  awaiting_invite: 'Not invited yet.',
  active: 'In treatment.',
  archived: 'Archived.',
  declined: 'Declined the invitation.',
  invite_sent: 'Invited, without an answer yet.',
  pending: 'Pending.',
  unknown: 'Unknown, or a status that is new in the Partner API.',
} as const;

const ClientStatus = builder.enumType('ClientStatus', {
  description: 'Status of a client.',
  values: enumValues(statuses),
});

const readStatus = attribute<ClientRef, 'status'>('status');

/** A status that the Partner API adds later is UNKNOWN here, and counted. */
function knownStatus(text: string | null, { partner }: Context) {
  const status = text?.toLowerCase() ?? null;
  if (status === null || Object.hasOwn(statuses, status)) return status as keyof typeof statuses;
  partner.observer.unknownStatus?.();
  return 'unknown';
}

const statusOf = (client: ClientRef, args: unknown, ctx: Context) =>
  mapMaybePromise(readStatus(client, args, ctx), knownStatus, ctx);

objectType('Client', 'A client: the patient.', (t) => ({
  clientId: t.expose('id', required('UUID', 'UUID of the client.')),
  firstName: 'First name.',
  lastName: 'Last name.',
  externalId: 'The partner’s own identifier for the client.',
  email: 'E-mail address.',
  phoneNumber: 'Phone number with its `+` calling code.',
  dateOfBirth: optional('Date', 'Date of birth as the Partner API wrote it, in no time zone.'),
  status: t.field({
    ...optional(ClientStatus, 'Status of the client.', statusOf),
    extensions: { isAttribute: true },
  }),
  raw: RAW,
  clinic: optional('Clinic', 'The clinic that the client belongs to.', clinicOfClient),
  sessions: listField('sessionsOfClient', 'The sessions of the client.'),
  programs: listField('programsOfClient', 'The programs that the client takes part in.'),
}));

/** The clients of a clinic can be filtered by their clinician too. */
const clientFilter = (name: string, parent: 'clinician' | 'clinic') =>
  builder.inputType(name, {
    description: `Conditions for the clients of a ${parent}. All given fields must match.`,
    fields: (t) => ({
      externalId: t.string({ description: 'The partner’s own identifier for the client.' }),
      firstName: t.string({ description: 'First name, exact.' }),
      lastName: t.string({ description: 'Last name, exact.' }),
      name: t.string({ description: 'Free text, across first and last name.' }),
      email: t.string({ description: 'E-mail address, exact.' }),
      phoneNumber: t.string({ description: 'Phone number with its `+` calling code.' }),
      dateOfBirth: t.field(optional('Date', 'Date of birth.')),
      status: t.field(optional(ClientStatus, 'Status of the client.')),
      ...(parent === 'clinic' && {
        clinicianId: t.id({ description: 'Global id or UUID of the client’s clinician.' }),
      }),
    }),
  });
const ClientFilter = clientFilter('ClientFilter', 'clinician');
const ClinicClientFilter = clientFilter('ClinicClientFilter', 'clinic');

const ClinicianFilter = builder.inputType('ClinicianFilter', {
  description: 'Conditions for the clinicians of a clinic. All given fields must match.',
  fields: (t) => ({
    id: t.id({ description: 'Global id or UUID of the clinician.' }),
    firstName: t.string({ description: 'First name, exact.' }),
    lastName: t.string({ description: 'Last name, exact.' }),
    email: t.string({ description: 'E-mail address, exact.' }),
    externalId: t.string({ description: 'The partner’s own identifier for the clinician.' }),
  }),
});

objectType('Clinic', 'A clinic of an organization.', (t) => ({
  clinicId: t.expose('id', required('UUID', 'UUID of the clinic.')),
  name: 'Name of the clinic.',
  raw: RAW,
  organization: optional(
    'Organization',
    'The organization that the clinic belongs to.',
    parentLink('Organization'),
  ),
  clinicians: listField(
    'cliniciansOfClinic',
    'The clinicians of the clinic, filtered by the Partner API.',
    { filter: t.arg(optional(ClinicianFilter, 'Only clinicians that match.')) },
  ),
  clients: listField('clientsOfClinic', 'The clients of the clinic, filtered by the Partner API.', {
    filter: t.arg(optional(ClinicClientFilter, 'Only clients that match.')),
  }),
  assessments: listField('assessmentsOfClinic', 'The assessments that the clinic uses.', {
    defaultOnly: t.arg(optional('Boolean', 'Only assessments that clients get by default.')),
  }),
}));

objectType('Clinician', 'A clinician of a clinic.', (t) => ({
  clinicianId: t.expose('id', required('UUID', 'UUID of the clinician.')),
  firstName: 'First name.',
  lastName: 'Last name.',
  email: 'E-mail address.',
  externalId: 'The partner’s own identifier for the clinician.',
  raw: RAW,
  clinic: optional('Clinic', 'The clinic that the clinician works in.', parentLink('Clinic')),
  clients: listField(
    'clientsOfClinician',
    'The clients of the clinician, filtered by the Partner API.',
    { filter: t.arg(optional(ClientFilter, 'Only clients that match.')) },
  ),
  magicEdits: listField('magicEditsOfClinician', 'The magic edits that the clinician requested.'),
}));

objectType('MagicEdit', 'A magic edit: a rewrite of a note that a clinician requested.', (t) => ({
  magicEditId: t.expose('id', required('UUID', 'UUID of the magic edit.')),
  raw: RAW,
}));
