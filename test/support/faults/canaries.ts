/** Canary values: each is unique, so that it can be found wherever it appears. */
export const PATIENT = {
  name: 'Canarina Quibblesworth',
  birthDate: '1903-04-05',
  email: 'canarina@quibblesworth.example',
  phone: '+15550190417',
  note: 'CANARY-NOTE sleeps badly since the flood',
  transcriptLine: 'CANARY-LINE I have not told anybody yet',
  answer: 'CANARY-ANSWER nearly every day',
  instructions: 'CANARY-INSTRUCTIONS leave out the part about the flood',
  externalId: 'CANARY-EXTERNAL-0417',
  sessionExternalId: 'CANARY-VISIT-0417',
  transcriptError: 'CANARY-ERROR the recording of Quibblesworth is empty',
  score: 73.0417,
} as const;

export const SECRETS = {
  clientSecret: 'secret-of-the-client-8f2e',
  apiKey: 'key-of-the-api-77a1',
  partnerToken: 'token-of-the-partner-51cc',
  accessToken: 'access-of-the-clinician-0b9d',
  idToken: 'identity-of-the-clinician-e3f4',
  refreshToken: 'refresh-of-the-clinician-a6d2',
} as const;

/** Which of them a text contains, also escaped or split into words. */
export function canariesIn(text: string, more: Readonly<Record<string, string>> = {}): string[] {
  const all = Object.entries({ ...PATIENT, ...SECRETS, ...more });
  const found = all.filter(([, value]) => variantsOf(String(value)).some((v) => text.includes(v)));
  return found.map(([name]) => name);
}

const variantsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  Buffer.from(value).toString('base64url'),
  ...value.split(' ').filter((word) => /^CANARY|^Canarina|^Quibblesworth/.test(word)),
];
