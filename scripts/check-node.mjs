// Loaded before anything else (`node --import`), in plain JavaScript that an old Node can read.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `partner-graph needs Node 24 or newer, but this is ${process.version}: install it, or run "npm ci" on Linux (x64, arm64), which brings one along.\n`,
  );
  process.exit(1);
}
