/* Looking for words in a change: what is not drawn can't be found by the browser. */

import type { FileChange, Line } from "./change";
import type { Range } from "./words";

export interface Match {
  readonly file: FileChange;
  readonly line: Line;
}

export const MOST_MATCHES = 5000;

/** Lines that hold the words, whatever the case, from top to bottom. */
export function matches(files: readonly FileChange[], words: string): Match[] {
  const wanted = words.toLowerCase();
  const found: Match[] = [];
  if (wanted === "") return found;
  for (const file of files) {
    for (const { lines } of file.hunks) {
      for (const line of lines) {
        if (!line.text.toLowerCase().includes(wanted)) continue;
        found.push({ file, line });
        if (found.length === MOST_MATCHES) return found;
      }
    }
  }
  return found;
}

/** Where the words stand in a line. */
export function ranges(text: string, words: string): Range[] {
  const [lower, wanted] = [text.toLowerCase(), words.toLowerCase()];
  const found: Range[] = [];
  if (wanted === "" || lower.length !== text.length) return found;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length))
    found.push([at, at + wanted.length]);
  return found;
}
