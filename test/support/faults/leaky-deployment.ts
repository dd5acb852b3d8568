import { createHmac } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { type GraphQLAnswer, post, tokenFor } from '../gateway.ts';
import { type ServerProcess, createStoreDir, startServer } from './process/process.ts';
import { PATIENT, SECRETS } from './canaries.ts';
import { IDS, type LeakyUpstream, openLeakyUpstream } from './leaky-upstream.ts';

/** A server over a leaky Partner API, and everything that its clients received apart from the data itself. */
export interface LeakyDeployment extends AsyncDisposable {
  readonly upstream: LeakyUpstream;
  readonly server: ServerProcess;
  readonly token: string;
  /** Errors, headers, empty bodies, close reasons. */
  readonly received: string[];
  readonly ask: (query: string, variables?: object, headers?: object) => Promise<GraphQLAnswer>;
  readonly read: (variables?: object, headers?: object) => Promise<GraphQLAnswer>;
  readonly write: (mutation: string, input: object) => Promise<GraphQLAnswer>;
  /** Signed, unless a signature is given. */
  readonly webhook: (event: unknown, signature?: string) => Promise<Delivered>;
  readonly spans: () => string;
}

interface Delivered {
  readonly status: number;
  readonly signature: string;
}

/** A line break, a forged log line and an escape code, as an attacker might send them in any field. */
export const FORGED = '\r\n{"level":"audit","msg":"forged"}\u001b[2J\u2028';

const CLIENT = 'firstName lastName email phoneNumber dateOfBirth externalId';
const READS = `query Reads($clinic: ID!, $client: ID!, $note: ID!, $session: ID!, $score: ID!,
    $clinician: ID!, $filter: ClinicClientFilter) { partner { raw }
  clinic(id: $clinic) { clients(filter: $filter) { nodes { ${CLIENT} sessions { nodes { sessionExternalId
    fileUrl transcript { items { speaker transcript } } mdm { raw } progressNote { note } } } } } }
  clinician(id: $clinician) { magicEdits { nodes { raw } } }
  client(id: $client, clinicId: $clinic) { ${CLIENT} }
  progressNote(id: $note, sessionId: $session, clientId: $client) { note }
  assessmentScore(id: $score) { totalScore answers { answerDisplay } } }`;

const FILTER = {
  name: PATIENT.name,
  email: PATIENT.email,
  phoneNumber: PATIENT.phone,
  dateOfBirth: PATIENT.birthDate,
  externalId: PATIENT.externalId,
};

const note = { progressNoteId: IDS.note, sessionId: IDS.session, clientId: IDS.client };

/** Each mutation with its input. */
export const WRITES: Readonly<Record<string, object>> = {
  magicEdit: {
    ...note,
    userInstructions: PATIENT.instructions,
    idempotencyKey: PATIENT.externalId,
  },
  regenerateProgressNote: note,
  updateProgressNote: { ...note, patch: { note: PATIENT.note } },
  assignSecondaryClinicians: { clientId: IDS.client, clinicianIds: [IDS.clinician] },
  authenticateClinician: { clinicianId: IDS.clinician },
};

const SHOWN: Readonly<Record<string, string>> = {
  magicEdit: '... on InvalidInput { issues }',
  authenticateClinician: '... on ClinicianTokens { AccessToken IdToken RefreshToken }',
};

export async function openLeakyDeployment(): Promise<LeakyDeployment> {
  const upstream = await openLeakyUpstream();
  const token = await tokenFor(['partner'], { subject: `auditor${FORGED}` });
  const storeDir = createStoreDir();
  const spanFile = join(storeDir, 'spans');
  const env = {
    SPAN_FILE: spanFile,
    LOG_LEVEL: 'debug',
    PARTNER_BASE_URL: upstream.connection.baseUrl,
    PARTNER_CLIENT_ID: 'client-id',
    PARTNER_CLIENT_SECRET: SECRETS.clientSecret,
    PARTNER_API_KEY: SECRETS.apiKey,
  };
  const server = await startServer({
    storeDir,
    preload: ['test/support/faults/process/span-file.ts'],
    env,
  });
  const received: string[] = [];

  const ask: LeakyDeployment['ask'] = async (query, variables = {}, headers = {}) => {
    const authorization = `Bearer ${token}`;
    const answer = await post(server.url, { query, variables }, { authorization, ...headers });
    received.push(JSON.stringify([answer.errors, [...answer.headers]]));
    return answer;
  };

  return {
    upstream,
    server,
    token,
    received,
    ask,
    read: (variables, headers) => ask(READS, { ...IDS, filter: FILTER, ...variables }, headers),
    write(mutation, input) {
      const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input`;
      const shown = SHOWN[mutation] ?? '';
      return ask(
        `mutation Writes($input: ${type}!) { ${mutation}(input: $input) { __typename ... on Problem { message } ${shown} } }`,
        { input },
      );
    },
    async webhook(event, given) {
      const body = typeof event === 'string' ? event : JSON.stringify(event);
      const mac = createHmac('sha256', SECRETS.clientSecret).update(body).digest('hex');
      const signature = given ?? mac;
      const headers = { 'x-signature': signature };
      const response = await fetch(`${server.url}/webhooks`, { method: 'POST', body, headers });
      received.push(JSON.stringify([await response.text(), [...response.headers]]));
      return { status: response.status, signature };
    },
    spans: () => readFileSync(spanFile, 'utf8'),
    async [Symbol.asyncDispose]() {
      await server.kill();
      await upstream[Symbol.asyncDispose]();
      rmSync(storeDir, { recursive: true, force: true });
    },
  };
}
