/** Loaded before the server: a mistake that only the event of one note hits, whenever it is to be sent to somebody. */
const poison = process.env['POISON'] ?? '';
const { stringify } = JSON;

JSON.stringify = (value: unknown, ...rest: unknown[]): string => {
  const text = stringify(value, ...(rest as []));
  const isPayload = typeof value === 'object' && value !== null && 'data' in value;
  if (isPayload && poison !== '' && text.includes(poison)) throw new TypeError('poison');
  return text;
};
