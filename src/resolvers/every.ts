import type { Context } from '../context.ts';
import type { ListName, ListRef } from '../rest/lists.ts';
import { everyRow } from './search.ts';

/** The last resort of a search: a list of each organization, each clinic, each client there is. */

export async function* everyOrganization<N extends ListName>(
  name: N,
  ctx: Context,
): AsyncGenerator<ListRef<N>> {
  for await (const { id } of everyRow({ name: 'organizations' }, ctx)) yield { name, id };
}

export async function* everyClinic<N extends ListName>(
  name: N,
  ctx: Context,
  filter?: Readonly<Record<string, string>>,
): AsyncGenerator<ListRef<N>> {
  for await (const clinics of everyOrganization('clinicsOfOrganization', ctx)) {
    for await (const { id } of everyRow(clinics, ctx)) {
      yield filter ? { name, id, filter } : { name, id };
    }
  }
}

export async function* everyClient<N extends ListName>(
  name: N,
  ctx: Context,
): AsyncGenerator<ListRef<N>> {
  for await (const clients of everyClinic('clientsOfClinic', ctx)) {
    for await (const { id } of everyRow(clients, ctx)) yield { name, id };
  }
}
