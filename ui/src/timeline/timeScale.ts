/* From instants to places on the axis: times in which nothing ran are folded, so that a push on the next morning does
   not compress the night before. Pure. */

export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export interface TimeScale {
  /** The times that are folded, in order. */
  readonly breaks: readonly TimeRange[];
  /** The times between them. */
  readonly segments: readonly TimeRange[];
  /** The length of the axis in milliseconds as drawn. */
  readonly length: number;
  /** Where an instant is, from 0 to 1. */
  place(at: number): number;
}

const MIN_BREAK = 10_000; // ms that are never folded
const MIN_BREAK_SHARE = 0.2; // of the time in which something ran
const BREAK_WIDTH = 0.07; // of the rest
const MAX_BREAKS_WIDTH = 0.4;
const MIN_BREAK_LENGTH = 1000; // ms as drawn

/** `busy` are the times in which something ran; `range` is all that is shown. */
export function createTimeScale(range: TimeRange, busy: readonly TimeRange[]): TimeScale {
  const idle = listIdle(range, busy);
  const worked = range.to - range.from - total(idle);
  const least = Math.max(MIN_BREAK, worked * MIN_BREAK_SHARE);
  const breaks = idle.filter(({ from, to }) => to - from > least);
  const shown = range.to - range.from - total(breaks);
  const share = Math.min(BREAK_WIDTH, MAX_BREAKS_WIDTH / breaks.length);
  const breakLength = Math.max(MIN_BREAK_LENGTH, shown * share);
  const length = Math.max(1, shown + breaks.length * breakLength);
  const offset = (at: number) =>
    breaks.reduce((sum, { from, to }) => {
      const folded = Math.min(Math.max(at - from, 0), to - from);
      return sum - folded + (folded * breakLength) / (to - from);
    }, at - range.from);
  const starts = [range.from, ...breaks.map(({ to }) => to)];
  const segments = starts.map((from, at) => ({ from, to: breaks[at]?.from ?? range.to }));
  return { breaks, segments, length, place: (at) => offset(at) / length };
}

/** The times between busy ones. */
function listIdle({ from, to }: TimeRange, busy: readonly TimeRange[]): TimeRange[] {
  const found: TimeRange[] = [];
  let end = from;
  for (const each of [...busy, { from: to, to }].sort((a, b) => a.from - b.from)) {
    if (each.from > end) found.push({ from: end, to: each.from });
    end = Math.max(end, each.to);
  }
  return found;
}

function total(ranges: readonly TimeRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}
