import { fuzz, openTarget } from '../test/support/fuzz/properties.ts';
import { amountOf } from './amount.ts';

/**
 * Sends random documents, variables, requests, frames and webhooks to the gateway: `node scripts/fuzz.ts [minutes]`.
 * Fails with the seed and the case as soon as a response is not one that the gateway makes on purpose, or its log has
 * an unexpected error.
 */
const minutes = amountOf('minutes', 5);
const SCALE = 50;

let unexpected: string | undefined;
await using gateway = await openTarget((line) => {
  if (line.includes('unexpected error')) unexpected = line;
});
const until = performance.now() + minutes * 60_000;
let cases = 0;
while (performance.now() < until) {
  const seed = Math.floor(Math.random() * 2 ** 31);
  cases += await fuzz(gateway, SCALE, seed);
  if (unexpected) throw new Error(`seed ${seed}: ${unexpected}`);
}
console.log(`${cases} cases in ${minutes} minutes: every answer in the gateway's own words`);
