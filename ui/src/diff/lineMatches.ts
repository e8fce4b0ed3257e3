/* Search in a diff: virtualized rows can't be found by the browser's own search. Pure. */

import type { FileChange, Line } from "./parseDiff";
import type { Range } from "./wordDiff";

export interface Match {
  readonly file: FileChange;
  readonly line: Line;
}

export const MAX_MATCHES = 5000;

/** Lines that contain the words, ignoring case, from top to bottom. */
export function findMatches(files: readonly FileChange[], query: string): Match[] {
  const wanted = query.toLowerCase();
  const found: Match[] = [];
  if (wanted === "") return found;
  for (const file of files) {
    for (const { lines } of file.hunks) {
      for (const line of lines) {
        if (!line.text.toLowerCase().includes(wanted)) continue;
        found.push({ file, line });
        if (found.length === MAX_MATCHES) return found;
      }
    }
  }
  return found;
}

/** Positions of the words in a line. */
export function findRanges(text: string, query: string): Range[] {
  const [lower, wanted] = [text.toLowerCase(), query.toLowerCase()];
  const found: Range[] = [];
  if (wanted === "" || lower.length !== text.length) return found;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length))
    found.push([at, at + wanted.length]);
  return found;
}
