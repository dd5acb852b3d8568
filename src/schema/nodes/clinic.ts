import { clinicOfClinician, organizationOfClinic } from '../../resolvers/records.ts';
import { type InputFields, RAW, builder, nodeType, optional, required } from '../builder.ts';
import { listField } from '../connection.ts';
import { ClientStatus } from './client.ts';

/** The filters that both lists of clients have. */
const clientFields = (t: InputFields) => ({
  externalId: t.string({ description: 'The partner’s own identifier for the client.' }),
  firstName: t.string({ description: 'First name, exact.' }),
  lastName: t.string({ description: 'Last name, exact.' }),
  name: t.string({ description: 'Free text, across first and last name.' }),
  email: t.string({ description: 'E-mail address, exact.' }),
  phoneNumber: t.string({ description: 'Phone number with its `+` calling code.' }),
  dateOfBirth: t.field(optional('Date', 'Date of birth.')),
  status: t.field(optional(ClientStatus, 'Status of the client.')),
});

const ClientFilter = builder.inputType('ClientFilter', {
  description: 'Conditions for the clients of a clinician. All given fields must match.',
  fields: clientFields,
});

const ClinicClientFilter = builder.inputType('ClinicClientFilter', {
  description: 'Conditions for the clients of a clinic. All given fields must match.',
  fields: (t) => ({
    ...clientFields(t),
    clinicianId: t.id({ description: 'Global id or UUID of the client’s clinician.' }),
  }),
});

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

nodeType('Clinic', 'A clinic of an organization.', (t) => ({
  clinicId: t.expose('id', required('UUID', 'UUID of the clinic.')),
  name: 'Name of the clinic.',
  raw: RAW,
  organization: t.field({
    ...optional('Organization', 'The organization that the clinic belongs to.'),
    resolve: organizationOfClinic,
  }),
  clinicians: t.field(
    listField('cliniciansOfClinic', 'The clinicians of the clinic, filtered by the Partner API.', {
      filter: t.arg(optional(ClinicianFilter, 'Only clinicians that match.')),
    }),
  ),
  clients: t.field(
    listField('clientsOfClinic', 'The clients of the clinic, filtered by the Partner API.', {
      filter: t.arg(optional(ClinicClientFilter, 'Only clients that match.')),
    }),
  ),
  assessments: t.field(
    listField('assessmentsOfClinic', 'The assessments that the clinic uses.', {
      defaultOnly: t.arg(optional('Boolean', 'Only assessments that clients get by default.')),
    }),
  ),
}));

nodeType('Clinician', 'A clinician of a clinic.', (t) => ({
  clinicianId: t.expose('id', required('UUID', 'UUID of the clinician.')),
  firstName: 'First name.',
  lastName: 'Last name.',
  email: 'E-mail address.',
  externalId: 'The partner’s own identifier for the clinician.',
  raw: RAW,
  clinic: t.field({
    ...optional('Clinic', 'The clinic that the clinician works in.'),
    resolve: clinicOfClinician,
  }),
  clients: t.field(
    listField('clientsOfClinician', 'The clients of the clinician, filtered by the Partner API.', {
      filter: t.arg(optional(ClientFilter, 'Only clients that match.')),
    }),
  ),
  magicEdits: t.field(
    listField('magicEditsOfClinician', 'The magic edits that the clinician requested.'),
  ),
}));

nodeType('MagicEdit', 'A magic edit: a rewrite of a note that a clinician requested.', (t) => ({
  magicEditId: t.expose('id', required('UUID', 'UUID of the magic edit.')),
  raw: RAW,
}));
