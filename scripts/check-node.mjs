// Loaded before everything else (`node --import`). Plain JavaScript, so that an old Node can run it.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 9)) {
  process.stderr.write(
    `partner-graph needs Node 24.9 or newer, but this is ${process.version}: install it, or run "npm ci" on Linux (x64, arm64), which brings one along.\n`,
  );
  process.exit(1);
}
// With the cache, types are stripped and sources compiled once, not at every start. Otherwise that would take most of the
// start-up time and a fifth of the memory. Worker threads read the variable.
const cache = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url));
module.enableCompileCache(cache);
process.env.NODE_COMPILE_CACHE ??= cache;
