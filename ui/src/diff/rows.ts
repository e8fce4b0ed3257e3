/* A change as one flat list of rows, as it is drawn from top to bottom: only those in sight are. */

import type { FileChange, Hunk, Line } from "./change";
import type { Comment, Place } from "./comments";

export type View = "unified" | "split";
export type Side = "old" | "new";

export interface Pair {
  readonly left: Line | null;
  readonly right: Line | null;
}

export type Row =
  | { readonly kind: "file"; readonly key: string; readonly file: FileChange }
  | {
      readonly kind: "note";
      readonly key: string;
      readonly file: FileChange;
      readonly text: string;
      readonly fold: boolean;
    }
  | { readonly kind: "hunk"; readonly key: string; readonly file: FileChange; readonly text: string }
  | {
      readonly kind: "line";
      readonly key: string;
      readonly file: FileChange;
      readonly line: Line;
      readonly mate: Line | null;
    }
  | { readonly kind: "pair"; readonly key: string; readonly file: FileChange; readonly pair: Pair }
  | { readonly kind: "comment"; readonly key: string; readonly file: FileChange; readonly comment: Comment }
  | { readonly kind: "writing"; readonly key: string; readonly file: FileChange };

export interface Shown {
  readonly view: View;
  /** Why a file is folded, by its path; those that are not in it are open. */
  readonly folded: ReadonlyMap<string, string>;
  readonly comments: readonly Comment[];
  readonly writing: Place | null;
}

export function rows(files: readonly FileChange[], shown: Shown): Row[] {
  const made: Row[] = [];
  const split = shown.view === "split";
  const below = new Map<string, Comment[]>();
  for (const comment of shown.comments) {
    const at = placeKey(comment.path, comment.side, comment.to);
    below.set(at, [...(below.get(at) ?? []), comment]);
  }
  const writing = shown.writing && placeKey(shown.writing.path, shown.writing.side, shown.writing.to);
  for (const [f, file] of files.entries()) {
    made.push({ kind: "file", key: `${f}`, file });
    const why = shown.folded.get(file.path);
    const note = why ?? noteOf(file);
    if (note !== null) made.push({ kind: "note", key: `${f}!`, file, text: note, fold: why !== undefined });
    if (why !== undefined) continue;
    for (const [h, hunk] of file.hunks.entries()) {
      made.push({ kind: "hunk", key: `${f}.${h}`, file, text: hunk.header });
      const all = split ? pairs(hunk) : singles(hunk);
      for (let i = 0; i < all.length; i++) {
        const pair = all[i] as Pair;
        const key = `${f}.${h}${split ? ":" : "."}${i}`;
        made.push(split ? { kind: "pair", key, file, pair } : single(key, file, pair));
        if (below.size === 0 && writing === null) continue;
        for (const at of placesOf(file, split ? pair : { left: pair.left, right: null })) {
          for (const comment of below.get(at) ?? [])
            made.push({ kind: "comment", key: `c${comment.id}`, file, comment });
          if (at === writing) made.push({ kind: "writing", key: "writing", file });
        }
      }
    }
  }
  return made;
}

/** Removed lines beside the added ones that took their place. */
const paired = new WeakMap<Hunk, readonly Pair[]>();
export function pairs(hunk: Hunk): readonly Pair[] {
  const known = paired.get(hunk);
  if (known !== undefined) return known;
  const made: Pair[] = [];
  const { lines } = hunk;
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] as Line;
    if (line.kind === "same") {
      made.push({ left: line, right: line });
      i += 1;
      continue;
    }
    const removed: Line[] = [];
    const added: Line[] = [];
    for (; i < lines.length && lines[i]?.kind === "removed"; i++) removed.push(lines[i] as Line);
    for (; i < lines.length && lines[i]?.kind === "added"; i++) added.push(lines[i] as Line);
    for (let n = 0; n < Math.max(removed.length, added.length); n++)
      made.push({ left: removed[n] ?? null, right: added[n] ?? null });
  }
  paired.set(hunk, made);
  return made;
}

/** The same in git's own order: each line with the one that it is compared with on the other side. */
const listed = new WeakMap<Hunk, readonly Pair[]>();
function singles(hunk: Hunk): readonly Pair[] {
  const known = listed.get(hunk);
  if (known !== undefined) return known;
  const mates = new Map<Line, Line | null>();
  for (const { left, right } of pairs(hunk)) {
    if (left !== null) mates.set(left, right);
    if (right !== null && right !== left) mates.set(right, left);
  }
  const made = hunk.lines.map((line) => ({ left: line, right: mates.get(line) ?? null }));
  listed.set(hunk, made);
  return made;
}

function single(key: string, file: FileChange, { left, right }: Pair): Row {
  return { kind: "line", key, file, line: left as Line, mate: right === left ? null : right };
}

/** The lines that a row shows, by side: those that a person can point at. */
export function linesOf(row: Row): { old: Line | null; new: Line | null } {
  if (row.kind === "pair") return { old: row.pair.left, new: row.pair.right };
  if (row.kind !== "line") return { old: null, new: null };
  return row.line.kind === "removed" ? { old: row.line, new: null } : { old: null, new: row.line };
}

function placesOf(file: FileChange, { left, right }: Pair): string[] {
  const lines = new Set([left, right]);
  const found: string[] = [];
  for (const line of lines) {
    if (line === null) continue;
    if (line.old > 0) found.push(placeKey(file.path, "old", line.old));
    if (line.new > 0) found.push(placeKey(file.path, "new", line.new));
  }
  return found;
}

function placeKey(path: string, side: Side, n: number): string {
  return `${side} ${n} ${path}`;
}

function noteOf(file: FileChange): string | null {
  if (file.note !== null) return file.note;
  if (file.binary) return "A binary file: what it holds is not shown.";
  if (file.hunks.length > 0) return null;
  if (file.mode !== null) return "Only its mode changed.";
  if (file.status === "renamed") return "Renamed, and nothing else.";
  if (file.status === "copied") return "A copy, and nothing else.";
  return file.status === "modified" ? "There is nothing to show of it." : "The file is empty.";
}
