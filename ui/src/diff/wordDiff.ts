/* Word-level diff of a changed line, by the longest common subsequence. Pure. */

export type Range = readonly [start: number, end: number];
interface ChangedRanges {
  readonly old: readonly Range[];
  readonly new: readonly Range[];
}

const MAX_WORDS = 300; // of a line; longer ones would take milliseconds each
const MIN_COMMON = 0.2; // share of equal characters: below that, it is another line, not a changed one
const NO_CHANGES: ChangedRanges = { old: [], new: [] };

/** Marks nothing if the lines are too long, too different, or equal. */
export function diffWords(before: string, after: string): ChangedRanges {
  if (before === after) return NO_CHANGES;
  const [a, b] = [splitWords(before), splitWords(after)];
  if (a === null || b === null) return NO_CHANGES;
  const kept = commonWords(a, b);
  const letters = kept.reduce((sum, [i]) => sum + (a[i] ?? "").trim().length, 0);
  const longest = Math.max(before.trim().length, after.trim().length);
  if (longest === 0 || letters / longest < MIN_COMMON) return NO_CHANGES;
  return {
    old: uncommonRanges(
      a,
      kept.map(([i]) => i),
    ),
    new: uncommonRanges(
      b,
      kept.map(([, j]) => j),
    ),
  };
}

function splitWords(text: string): string[] | null {
  if (text.length > 5000) return null;
  const found = text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
  return found.length > MAX_WORDS ? null : found;
}

/** Pairs of indexes of equal words, in order. */
function commonWords(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** Changed words as character ranges; adjacent ones are joined. */
function uncommonRanges(all: readonly string[], kept: readonly number[]): Range[] {
  const common = new Set(kept);
  const ranges: [number, number][] = [];
  let start = 0;
  for (const [place, word] of all.entries()) {
    const end = start + word.length;
    const last = ranges.at(-1);
    if (!common.has(place)) {
      if (last?.[1] === start) last[1] = end;
      else ranges.push([start, end]);
    }
    start = end;
  }
  return ranges;
}
