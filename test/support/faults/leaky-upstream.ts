import type { ServerResponse } from 'node:http';

import {
  type SeenRequest,
  type Upstream,
  answer,
  openUpstream,
  pageBody,
  uuid,
} from '../rest/upstream.ts';
import { PATIENT, SECRETS } from './sentinels.ts';

/** How the Partner API answers everything but the question for a token. */
export type Mood =
  | 'well'
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
  mood: Mood;
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

/** A Partner API whose every answer, failures above all, repeats what must not be passed on. */
export async function openLeakyUpstream(): Promise<LeakyUpstream> {
  const upstream = await openUpstream(
    (request, response) => respond(leaky.mood, request, response),
    {
      authenticate: (response) =>
        answer(response, 200, { accessToken: SECRETS.partnerToken, expiresIn: 3_600 }),
    },
  );
  const mood: Mood = 'well';
  const leaky: LeakyUpstream = Object.assign(upstream, { mood });
  return leaky;
}

function respond(mood: Mood, request: SeenRequest, response: ServerResponse): void {
  const everything = { ...PATIENT, ...SECRETS, asked: request.body, of: request.path };
  const told = JSON.stringify(everything);
  const headers = { 'x-told': encodeURIComponent(told), 'x-request-id': SECRETS.partnerToken };
  if (mood === 'reset') return void response.socket?.resetAndDestroy();
  if (mood === 'html') return void response.writeHead(403, headers).end(`<html>${told}</html>`);
  if (mood === 'truncated') return void response.writeHead(200, headers).end(told.slice(0, -20));
  if (mood === 'redirect')
    return void response.writeHead(302, { location: `http://127.0.0.1:1/${SECRETS.apiKey}` }).end();
  if (mood === 'without rows')
    return answer(response, 200, { data: [everything], meta: {}, ...everything }, headers);
  if (mood !== 'well') {
    const message = mood === 400 ? { message: [told], error: told } : told;
    const retry = mood === 429 ? { 'retry-after': '99999' } : undefined;
    const body = { error: { type: told, message, statusCode: mood, details: [] }, path: told };
    return answer(response, mood, body, { ...headers, ...retry });
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
