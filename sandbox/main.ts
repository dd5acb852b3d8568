import { openSandbox } from './sandbox.ts';

/** The sandbox as a program: `npm run sandbox [port]`, or PORT; webhooks go to WEBHOOK_URL. See also SANDBOX_PULSE_MS. */
const port = process.argv[2] || process.env['PORT'] || '4010';
const receiver = process.env['WEBHOOK_URL'] || undefined;
const pulse = process.env['SANDBOX_PULSE_MS'];
const switches = pulse ? { pulseMs: Number(pulse) } : {};

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
if (!/^\d+$/.test(port)) refuse(`The port must be a whole number, but got ${JSON.stringify(port)}`);
if (pulse && !/^\d+$/.test(pulse)) refuse('SANDBOX_PULSE_MS must be a whole number, but is not');
if (receiver && !/^https?:/.test(URL.parse(receiver)?.protocol ?? ''))
  refuse('WEBHOOK_URL must be an https:// or http:// URL, but is not');

const options = { port: Number(port), switches };
const sandbox = await openSandbox(options).catch(({ message }) => refuse(message));
const { baseUrl, clientId, clientSecret, apiKey } = sandbox.connection;
sandbox.deliverTo(receiver);

process.stdout.write(`An imitation of the Partner API, with made-up data.

  PARTNER_BASE_URL=${baseUrl}
  PARTNER_CLIENT_ID=${clientId}
  PARTNER_CLIENT_SECRET=${clientSecret}
  PARTNER_API_KEY=${apiKey}

  Webhooks: ${receiver ? 'sent, signed, to WEBHOOK_URL' : 'set WEBHOOK_URL to receive them'}

  Switches: curl -s ${new URL('/_sandbox/switches', baseUrl).href} -H 'Content-Type: application/json' -d '{"latencyMs":200}'
`);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void sandbox.close());
