import type { Context } from '../context.ts';
import { grantText } from '../viewer/grants.ts';
import type { ClientRef, ClinicRef, ClinicianRef, SessionRef } from './refs.ts';

/** Where a viewer starts from: the records that the grants name, known by id and open. */
export const viewerOf = (_parent: unknown, _args: unknown, ctx: Context) => ctx.viewer;

export const grantsOf = (_parent: unknown, _args: unknown, ctx: Context): readonly string[] =>
  ctx.viewer.grants.map(grantText);

export const clinicsOfViewer = (_parent: unknown, _args: unknown, ctx: Context): ClinicRef[] =>
  ctx.reach.granted('clinic').map((id) => ({ kind: 'clinic', id, open: true }));

export const cliniciansOfViewer = (
  _parent: unknown,
  _args: unknown,
  ctx: Context,
): ClinicianRef[] =>
  ctx.reach.granted('clinician').map((id) => ({ kind: 'clinician', id, open: true }));

export const clientsOfViewer = (_parent: unknown, _args: unknown, ctx: Context): ClientRef[] =>
  ctx.reach.granted('client').map((id) => ({ kind: 'client', id, open: true }));

export const sessionsOfViewer = (_parent: unknown, _args: unknown, ctx: Context): SessionRef[] =>
  ctx.reach.granted('session').map((id) => ({ kind: 'session', id, open: true }));
