/**
 * The wall clock as it was when the process began, and as much later as time has passed since. For whatever is kept until
 * a time, or proves something up to an age: the wall clock may be set meanwhile, by hand or by NTP.
 */
export const steadyNow = (): number => Math.round(performance.timeOrigin + performance.now());
