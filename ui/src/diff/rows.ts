/* A change as one flat list of rows, as it is drawn from top to bottom: only those in sight are. */

import type { FileChange, Line } from "./change";
import type { Comment, Place } from "./comments";
import { pairs, singles } from "./pairs";

export type View = "unified" | "split";
export type Side = "old" | "new";

/** A number where there are very many: they are compared and looked up all the time. */
export type Key = string | number;

export type Row =
  | { readonly kind: "file"; readonly key: Key; readonly file: FileChange }
  | {
      readonly kind: "note";
      readonly key: Key;
      readonly file: FileChange;
      readonly text: string;
      readonly fold: boolean;
    }
  | { readonly kind: "hunk"; readonly key: Key; readonly file: FileChange; readonly text: string }
  | {
      readonly kind: "line";
      readonly key: Key;
      readonly file: FileChange;
      readonly line: Line;
      readonly mate: Line | null;
    }
  | {
      readonly kind: "pair";
      readonly key: Key;
      readonly file: FileChange;
      readonly left: Line | null;
      readonly right: Line | null;
    }
  | { readonly kind: "comment"; readonly key: Key; readonly file: FileChange; readonly comment: Comment }
  | { readonly kind: "writing"; readonly key: Key; readonly file: FileChange };

export interface Shown {
  readonly view: View;
  /** Why a file is folded, by its path; those that are not in it are open. */
  readonly folded: ReadonlyMap<string, string>;
  readonly comments: readonly Comment[];
  readonly writing: Place | null;
}

export function rows(files: readonly FileChange[], shown: Shown): Row[] {
  const made: Row[] = [];
  const below = inserted(shown);
  let first = 0;
  for (const [f, file] of files.entries()) {
    made.push({ kind: "file", key: `${f}`, file });
    const why = shown.folded.get(file.path);
    const note = why ?? noteOf(file);
    if (note !== null) made.push({ kind: "note", key: `${f}!`, file, text: note, fold: why !== undefined });
    if (why === undefined) {
      const mine = below.get(file.path);
      for (const [h, hunk] of hunkRows(file, shown.view, first).entries()) {
        made.push({ kind: "hunk", key: `${f}.${h}`, file, text: file.hunks[h]?.header ?? "" });
        for (const row of hunk) {
          made.push(row);
          if (mine !== undefined) made.push(...under(row, mine));
        }
      }
    }
    first += 2 * linesIn(file);
  }
  return made;
}

type Drawn = { readonly view: View; readonly first: number; readonly hunks: readonly (readonly Row[])[] };

/** The lines of each hunk. Law: the same file has the same rows, whatever is folded or said about it. Their keys begin
    with `first`, and those of the other view do not meet them. */
const drawn = new WeakMap<FileChange, Drawn>();
function hunkRows(file: FileChange, view: View, first: number): Drawn["hunks"] {
  const known = drawn.get(file);
  if (known?.view === view && known.first === first) return known.hunks;
  let key = view === "split" ? first + linesIn(file) : first;
  const pair = (left: Line | null, right: Line | null): Row => ({
    kind: "pair",
    key: key++,
    file,
    left,
    right,
  });
  const single = (line: Line, mate: Line | null): Row => ({ kind: "line", key: key++, file, line, mate });
  const hunks = file.hunks.map((hunk) => (view === "split" ? pairs(hunk, pair) : singles(hunk, single)));
  drawn.set(file, { view, first, hunks });
  return hunks;
}

function linesIn({ hunks }: FileChange): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** What stands below lines of a file, by side and number; `null` is the field that somebody writes into. */
type Below = Record<Side, Map<number, (Comment | null)[]>>;

function inserted({ comments, writing }: Shown): ReadonlyMap<string, Below> {
  const found = new Map<string, Below>();
  const put = ({ path, side, to }: Place, what: Comment | null) => {
    const mine = found.get(path) ?? { old: new Map(), new: new Map() };
    mine[side].set(to, [...(mine[side].get(to) ?? []), what]);
    found.set(path, mine);
  };
  for (const comment of comments) put(comment, comment);
  if (writing !== null) put(writing, null);
  return found;
}

const NOTHING: readonly Row[] = [];

function under(row: Row, below: Below): readonly Row[] {
  if (row.kind === "line") return underLine(row.line, row.file, below);
  if (row.kind !== "pair") return NOTHING;
  const { left, right } = row;
  const [one, other] = [underLine(left, row.file, below), underLine(right, row.file, below)];
  return left === right || other.length === 0 ? one : [...one, ...other];
}

function underLine(line: Line | null, file: FileChange, below: Below): readonly Row[] {
  const before = line === null ? undefined : below.old.get(line.old);
  const after = line === null ? undefined : below.new.get(line.new);
  if (before === undefined && after === undefined) return NOTHING;
  return [...(before ?? []), ...(after ?? [])].map((comment) =>
    comment === null
      ? { kind: "writing", key: "writing", file }
      : { kind: "comment", key: `c${comment.id}`, file, comment },
  );
}

/** The lines that a row shows, by side: those that a person can point at. */
export function linesOf(row: Row): { old: Line | null; new: Line | null } {
  if (row.kind === "pair") return { old: row.left, new: row.right };
  if (row.kind !== "line") return { old: null, new: null };
  return row.line.kind === "removed" ? { old: row.line, new: null } : { old: null, new: row.line };
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
