/* Parses a file with conflict markers. Pure. */

type MergePart =
  | { readonly kind: "same"; readonly lines: readonly string[] }
  | {
      readonly kind: "conflict";
      readonly ours: readonly string[];
      /** `null` if the markers don't include the base. */
      readonly base: readonly string[] | null;
      readonly theirs: readonly string[];
    };

const CONTEXT_LINES = 3; // lines around a conflict

/** Incomplete or single markers are ordinary lines. */
export function parseConflicts(merged: string): MergePart[] {
  const lines = merged.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const parts: MergePart[] = [];
  let same: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const conflict = /^<{7,}( |$)/.test(lines[i] ?? "") ? readConflict(lines, i) : null;
    if (conflict === null) {
      same.push(lines[i] ?? "");
      i += 1;
      continue;
    }
    if (same.length > 0) parts.push({ kind: "same", lines: same });
    same = [];
    parts.push(conflict.part);
    i = conflict.next;
  }
  if (same.length > 0) parts.push({ kind: "same", lines: same });
  return parts;
}

function readConflict(lines: readonly string[], start: number): { part: MergePart; next: number } | null {
  const size = /^<+/.exec(lines[start] ?? "")?.[0].length ?? 7;
  const is = (line: string | undefined, letter: string) =>
    line === letter.repeat(size) || line?.startsWith(`${letter.repeat(size)} `) === true;
  const ours: string[] = [];
  const theirs: string[] = [];
  let base: string[] | null = null;
  let into = ours;
  for (let i = start + 1; i < lines.length; i++) {
    const text = lines[i] ?? "";
    const line = text.replace(/\r$/, ""); // git ends its markers as the file's lines end
    if (is(line, "|") && into === ours) into = base = [];
    else if (is(line, "=") && into !== theirs) into = theirs;
    else if (is(line, ">") && into === theirs)
      return { part: { kind: "conflict", ours, base, theirs }, next: i + 1 };
    else into.push(text);
  }
  return null;
}

export type VisiblePart = MergePart | { readonly kind: "gap"; readonly count: number };

/** Keeps only a few unchanged lines around each conflict. */
export function collapseContext(all: readonly MergePart[]): VisiblePart[] {
  return all.flatMap((part, index): VisiblePart[] => {
    if (part.kind === "conflict") return [part];
    const head = index > 0 ? CONTEXT_LINES : 0;
    const tail = index < all.length - 1 ? CONTEXT_LINES : 0;
    if (part.lines.length <= head + tail + 1) return [part];
    const shown: VisiblePart[] = [];
    if (head > 0) shown.push({ kind: "same", lines: part.lines.slice(0, head) });
    shown.push({ kind: "gap", count: part.lines.length - head - tail });
    if (tail > 0) shown.push({ kind: "same", lines: part.lines.slice(-tail) });
    return shown;
  });
}
