import { openSandbox } from './sandbox.ts';

/** The sandbox as a program: `npm run sandbox [port]`, or PORT; webhooks go to WEBHOOK_URL. */
const DEFAULT_PORT = 4010;

const given = process.argv[2] ?? process.env['PORT'];
const port = given === undefined ? DEFAULT_PORT : Number(given);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  process.stderr.write('The port must be an integer from 0 to 65535.\n');
  process.exit(1);
}

const sandbox = await openSandbox({ port });
const { baseUrl, clientId, clientSecret, apiKey } = sandbox.connection;
const receiver = process.env['WEBHOOK_URL'];
if (receiver !== undefined) sandbox.deliverTo(receiver);

process.stdout.write(`An imitation of the Partner API, with made-up data.

  PARTNER_BASE_URL=${baseUrl}
  PARTNER_CLIENT_ID=${clientId}
  PARTNER_CLIENT_SECRET=${clientSecret}
  PARTNER_API_KEY=${apiKey}

  Webhooks: ${receiver === undefined ? 'set WEBHOOK_URL to receive them' : 'sent, signed, to WEBHOOK_URL'}

  Switches: curl -s ${new URL('/_sandbox/switches', baseUrl).href} -H 'Content-Type: application/json' -d '{"latencyMs":200}'
`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void sandbox.close());
}
