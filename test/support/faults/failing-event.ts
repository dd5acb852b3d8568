/** Loaded before the server: throws whenever the event of one particular note is delivered. */
const failing = process.env['FAILING_NOTE'] ?? '';
const { stringify } = JSON;

JSON.stringify = (value: unknown, ...rest: unknown[]): string => {
  const text = stringify(value, ...(rest as []));
  const isPayload = typeof value === 'object' && value !== null && 'data' in value;
  if (isPayload && failing !== '' && text.includes(failing)) throw new TypeError('failing');
  return text;
};
