/* How often the sources are read again. Pure. */

export const REFRESH_MS = 15_000; // ms: also for windows that nobody sees, and after a failure
const MIN_REFRESH_MS = 2_000;
const MAX_SHARE = 0.05; // of the time, for reading again what mostly has not changed

/** Milliseconds until the next refresh, after one that took so many: large projects are read less often. */
export function refreshDelay(took: number): number {
  return Math.min(REFRESH_MS, Math.max(MIN_REFRESH_MS, took / MAX_SHARE));
}
