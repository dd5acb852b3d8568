/** Unique values, so that each can be found wherever it appears. */
export const PATIENT = {
  name: 'Sentinelle Quibblesworth',
  birthDate: '1903-04-05',
  email: 'sentinelle@quibblesworth.example',
  phone: '+15550190417',
  note: 'SENTINEL-NOTE sleeps badly since the flood',
  transcriptLine: 'SENTINEL-LINE I have not told anybody yet',
  answer: 'SENTINEL-ANSWER nearly every day',
  instructions: 'SENTINEL-INSTRUCTIONS leave out the part about the flood',
  externalId: 'SENTINEL-EXTERNAL-0417',
  sessionExternalId: 'SENTINEL-VISIT-0417',
  transcriptError: 'SENTINEL-ERROR the recording of Quibblesworth is empty',
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
export function sentinelsIn(text: string, more: Readonly<Record<string, string>> = {}): string[] {
  const all = Object.entries({ ...PATIENT, ...SECRETS, ...more });
  const found = all.filter(([, value]) => variantsOf(String(value)).some((v) => text.includes(v)));
  return found.map(([name]) => name);
}

const variantsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  Buffer.from(value).toString('base64url'),
  ...value.split(' ').filter((word) => /^SENTINEL|^Sentinelle|^Quibblesworth/.test(word)),
];
