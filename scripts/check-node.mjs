// Loaded before anything else (`node --import`), in plain JavaScript that an old Node can read.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 9)) {
  process.stderr.write(
    `partner-graph needs Node 24.9 or newer, but this is ${process.version}: install it, or run "npm ci" on Linux (x64, arm64), which brings one along.\n`,
  );
  process.exit(1);
}
// Types are stripped and sources compiled once, not at every start: that is most of the time, and a fifth of the memory.
// The variable is for worker threads, which begin anew.
const cache = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url));
module.enableCompileCache(cache);
process.env.NODE_COMPILE_CACHE ??= cache;
