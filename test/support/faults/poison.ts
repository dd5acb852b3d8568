/** Loaded before the server: throws whenever the event of one particular note is delivered. */
const poison = process.env['POISON'] ?? '';
const { stringify } = JSON;

JSON.stringify = (value: unknown, ...rest: unknown[]): string => {
  const text = stringify(value, ...(rest as []));
  const isPayload = typeof value === 'object' && value !== null && 'data' in value;
  if (isPayload && poison !== '' && text.includes(poison)) throw new TypeError('poison');
  return text;
};
