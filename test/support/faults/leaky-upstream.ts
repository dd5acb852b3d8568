import type { ServerResponse } from 'node:http';

import {
  type SeenRequest,
  type Upstream,
  answer,
  openUpstream,
  pageBody,
  uuid,
} from '../rest/upstream.ts';
import { PATIENT, SECRETS } from './canaries.ts';

/** How the Partner API responds to everything but requests for a token. */
export type Mode =
  | 'ok'
  | 400
  | 401
  | 403
  | 404
  | 409
  | 429
  | 500
  | 'html'
  | 'truncated'
  | 'redirect'
  | 'reset'
  | 'without rows';

export interface LeakyUpstream extends Upstream {
  mode: Mode;
}

export const IDS = {
  organization: uuid(1),
  clinic: uuid(2),
  clinician: uuid(3),
  client: uuid(4),
  session: uuid(5),
  note: uuid(6),
  score: uuid(7),
};

const { name, ...rest } = PATIENT;
const [firstName = '', lastName = ''] = name.split(' ');

const BODIES: readonly (readonly [RegExp, unknown])[] = [
  [/^\/partners$/, { name }],
  [/\/organizations(\?|$)/, pageBody(1, 1, [{ id: IDS.organization, name: 'An organization' }])],
  [/\/clinics(\?|$)/, pageBody(1, 1, [{ id: IDS.clinic, name: 'A clinic' }])],
  [/\/clinicians(\?|$)/, pageBody(1, 1, [{ id: IDS.clinician, firstName, email: rest.email }])],
  [/\/clients(\?|$)/, pageBody(1, 1, [clientRow()])],
  [/\/sessions(\?|$)/, pageBody(1, 1, [sessionRow()])],
  [/\/magic-edit(\?|$)/, pageBody(1, 1, [{ id: uuid(8), userInstructions: rest.instructions }])],
  [/progress-note/, { progressNoteId: IDS.note, isLoading: false, note: [{ text: rest.note }] }],
  [/transcript$/, { transcriptItems: [{ speaker: lastName, transcript: rest.transcriptLine }] }],
  [/mdm$/, { error: rest.transcriptError }],
  [/assessment-scores/, { totalScore: rest.score, answers: [{ answerDisplay: rest.answer }] }],
  [/secondary-clinicians$/, {}],
];

const TOKENS = {
  AccessToken: SECRETS.accessToken,
  IdToken: SECRETS.idToken,
  RefreshToken: SECRETS.refreshToken,
  ExpiresIn: 600,
  TokenType: 'Bearer',
};

/** A Partner API whose every response, failures above all, contains data that must not be passed on. */
export async function openLeakyUpstream(): Promise<LeakyUpstream> {
  const upstream = await openUpstream(
    (request, response) => respond(leaky.mode, request, response),
    {
      authenticate: (response) =>
        answer(response, 200, { accessToken: SECRETS.partnerToken, expiresIn: 3_600 }),
    },
  );
  const mode: Mode = 'ok';
  const leaky: LeakyUpstream = Object.assign(upstream, { mode });
  return leaky;
}

function respond(mode: Mode, request: SeenRequest, response: ServerResponse): void {
  const everything = { ...PATIENT, ...SECRETS, asked: request.body, of: request.path };
  const leaked = JSON.stringify(everything);
  const headers = { 'x-leaked': encodeURIComponent(leaked), 'x-request-id': SECRETS.partnerToken };
  if (mode === 'reset') return void response.socket?.resetAndDestroy();
  if (mode === 'html') return void response.writeHead(403, headers).end(`<html>${leaked}</html>`);
  if (mode === 'truncated') return void response.writeHead(200, headers).end(leaked.slice(0, -20));
  if (mode === 'redirect')
    return void response.writeHead(302, { location: `http://127.0.0.1:1/${SECRETS.apiKey}` }).end();
  if (mode === 'without rows')
    return answer(response, 200, { data: [everything], meta: {}, ...everything }, headers);
  if (mode !== 'ok') {
    const message = mode === 400 ? { message: [leaked], error: leaked } : leaked;
    const retry = mode === 429 ? { 'retry-after': '99999' } : undefined;
    const body = { error: { type: leaked, message, statusCode: mode, details: [] }, path: leaked };
    return answer(response, mode, body, { ...headers, ...retry });
  }
  const isMint = request.path.endsWith('/authenticate');
  const body = BODIES.find(([path]) => path.test(request.path))?.[1];
  answer(response, 200, isMint ? TOKENS : body, headers);
}

function clientRow() {
  const { email, phone: phoneNumber, birthDate: dateOfBirth, externalId } = rest;
  return { id: IDS.client, firstName, lastName, email, phoneNumber, dateOfBirth, externalId };
}

function sessionRow() {
  return {
    sessionId: IDS.session,
    sessionExternalId: rest.sessionExternalId,
    fileUrl: 'https://a.example/b',
  };
}
