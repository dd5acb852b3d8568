import { StoreUnavailable } from '../../../src/errors.ts';
import { openStore } from '../../../src/store/store.ts';
import { DAY_MS, eventOf } from './engines.ts';

/** Started under a limit on file sizes, which makes a write fail as a broken disk would. */
const [dir = ''] = process.argv.slice(2);
process.on('SIGXFSZ', () => {});
const problems: string[] = [];
const store = await openStore(
  { kind: 'embedded', dir },
  { retentionMs: DAY_MS, onProblem: (message) => void problems.push(message) },
);

const attempt = async (key: string, body: string) => {
  try {
    await store.log.append([eventOf(key, { body })]);
    return 'appended';
  } catch (error) {
    return error instanceof StoreUnavailable ? 'unavailable' : 'odd';
  }
};

const outcomes = [
  await attempt('small', '{}'),
  await attempt('large', 'x'.repeat(2_000_000)),
  await attempt('small again', '{}'),
];
console.log(JSON.stringify({ outcomes, problems }));
process.exit();
