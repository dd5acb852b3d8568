/** Loaded before the server: its wall clock jumps to the next of these offsets at every SIGUSR2. Timers don't. */
const offsets = (process.env['CLOCK_JUMPS_MS'] ?? '').split(',').map(Number);
const RealDate = Date;
let aheadMs = 0;
process.on('SIGUSR2', () => (aheadMs = offsets.shift() ?? 0));

const now = (): number => RealDate.now() + aheadMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
