import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded before a server: on a signal it collects garbage, and writes to stderr what memory is left. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: object) => void;

process.on('SIGUSR2', () => {
  // This also returns free memory to the system. V8 would keep up to 96 MB of it for young objects, more or less by chance.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { heapUsed, rss } = process.memoryUsage();
  process.stderr.write(`${JSON.stringify({ heapUsed, rss })}\n`);
});
