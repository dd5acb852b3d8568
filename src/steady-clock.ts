/**
 * The wall clock as it was when the process began, and as much later as time has passed since. For whatever is kept until
 * a time, or proves something up to an age: somebody may set the wall clock meanwhile, or a server of time may be wrong.
 */
export const steadyNow = (): number => Math.round(performance.timeOrigin + performance.now());
