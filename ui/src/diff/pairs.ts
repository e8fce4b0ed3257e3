/* The lines of a hunk, each with the one of the other side that it is compared with. Pure. */

import type { Hunk, Line } from "./change";

/** Removed lines beside the added ones that took their place, as what `made` makes of the two sides. */
export function pairLines<T>(hunk: Hunk, build: (left: Line | null, right: Line | null) => T): T[] {
  const found: T[] = [];
  for (const { removed, added, same } of changeRuns(hunk)) {
    for (let n = 0; n < Math.max(removed.length, added.length); n++)
      found.push(build(removed[n] ?? null, added[n] ?? null));
    for (const line of same) found.push(build(line, line));
  }
  return found;
}

/** Lines in git's own order, each with its mate on the other side. */
export function listLines<T>(hunk: Hunk, build: (line: Line, mate: Line | null) => T): T[] {
  const found: T[] = [];
  for (const { removed, added, same } of changeRuns(hunk)) {
    for (let n = 0; n < removed.length; n++) found.push(build(removed[n] as Line, added[n] ?? null));
    for (let n = 0; n < added.length; n++) found.push(build(added[n] as Line, removed[n] ?? null));
    for (const line of same) found.push(build(line, null));
  }
  return found;
}

/** What was removed, what was added in its place, and what follows unchanged. */
interface ChangeRun {
  readonly removed: readonly Line[];
  readonly added: readonly Line[];
  readonly same: readonly Line[];
}

function* changeRuns({ lines }: Hunk): Generator<ChangeRun> {
  let at = 0;
  const takeKind = (kind: Line["kind"]) => {
    const from = at;
    while (lines[at]?.kind === kind) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length)
    yield { removed: takeKind("removed"), added: takeKind("added"), same: takeKind("same") };
}
