import { organizationsOfViewer } from '../resolvers/organization.ts';
import {
  clientsOfViewer,
  cliniciansOfViewer,
  clinicsOfViewer,
  grantsOf,
  sessionsOfViewer,
} from '../resolvers/viewer.ts';
import type { Viewer as ViewerShape } from '../viewer/viewer.ts';
import { builder } from './builder.ts';
import { OrganizationConnection, windowArgs } from './connection.ts';
import { forGranted, listPrice } from '../resolvers/price.ts';
import { Client, Clinic, Clinician, Session } from './refs.ts';

export const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: 'Who is asking, and where they may start from.',
  fields: (t) => ({
    subject: t.exposeString('subject', {
      description: 'The subject of the caller’s token.',
      nullable: false,
    }),
    grants: t.stringList({
      description:
        'What the caller may reach: `partner`, or `organization:`, `clinic:`, `clinician:`, `client:` or `session:` and a UUID.',
      nullable: false,
      resolve: grantsOf,
    }),
    organizations: t.field({
      type: OrganizationConnection,
      description: 'The organizations that are open to the caller.',
      args: windowArgs,
      extensions: listPrice,
      resolve: organizationsOfViewer,
    }),
    clinics: t.field({
      type: [Clinic],
      description: 'The clinics named in the caller’s grants.',
      nullable: false,
      extensions: forGranted('clinic'),
      resolve: clinicsOfViewer,
    }),
    clinicians: t.field({
      type: [Clinician],
      description:
        'The clinicians named in the caller’s grants: for most frontends, the one who is signed in.',
      nullable: false,
      extensions: forGranted('clinician'),
      resolve: cliniciansOfViewer,
    }),
    clients: t.field({
      type: [Client],
      description: 'The clients named in the caller’s grants.',
      nullable: false,
      extensions: forGranted('client'),
      resolve: clientsOfViewer,
    }),
    sessions: t.field({
      type: [Session],
      description: 'The sessions named in the caller’s grants.',
      nullable: false,
      extensions: forGranted('session'),
      resolve: sessionsOfViewer,
    }),
  }),
});
