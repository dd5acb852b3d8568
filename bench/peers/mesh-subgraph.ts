import { loadJSONSchemaSubgraph } from '@omnigraph/json-schema';

const text = { type: 'string' } as const;

const note = {
  type: 'object',
  title: 'ProgressNote',
  properties: {
    progressNoteId: text,
    isLoading: { type: 'boolean' },
    note: { type: 'array', items: { type: 'object', title: 'JSON', additionalProperties: true } },
  },
} as const;

const pageOf = (title: string, properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  title: `${title}Page`,
  properties: {
    data: { type: 'array', items: { type: 'object', title, properties } },
    meta: { type: 'object', title: 'Meta', properties: { totalItems: { type: 'integer' } } },
  },
});

const get = (field: string, path: string, responseSchema: object) => ({
  type: 'Query',
  field,
  path,
  method: 'GET',
  responseSchema,
});

/** The routes that the workloads take, described to Mesh. */
export const partnerSubgraph = () =>
  loadJSONSchemaSubgraph('partner', {
    endpoint: process.env['PARTNER_BASE_URL'] ?? '',
    operationHeaders: { 'access-token': 'bench', 'x-api-key': 'bench' },
    operations: [
      get('noteById', '/progress-notes/{args.id}', note),
      get('noteOfSession', '/sessions/{args.id}/progress-note', note),
      get(
        'clientsPage',
        '/clinics/{args.id}/clients?page={args.page}',
        pageOf('Client', { id: text, firstName: text, lastName: text }),
      ),
      get(
        'sessionsPage',
        '/clients/{args.id}/sessions?page={args.page}',
        pageOf('Session', { sessionId: text }),
      ),
    ] as never,
  });
