/* A diff as a flat list of rows for the virtualized view. Pure. */

import type { Comment, CommentAnchor } from "./commentDrafts";
import { findGaps, type Gap } from "./hiddenLines";
import type { FileChange, Hunk, Line } from "./parseDiff";

export type DiffMode = "unified" | "split";
export type Side = "old" | "new";

/** A number for lines, because there are many and keys are compared all the time. */
export type RowKey = string | number;

export type Row =
  | { readonly kind: "file"; readonly key: RowKey; readonly file: FileChange }
  | {
      readonly kind: "note";
      readonly key: RowKey;
      readonly file: FileChange;
      readonly text: string;
      readonly fold: boolean;
    }
  | { readonly kind: "image"; readonly key: RowKey; readonly file: FileChange }
  | {
      readonly kind: "hunk";
      readonly key: RowKey;
      readonly file: FileChange;
      /** Of the hunk below; empty after the last one. */
      readonly text: string;
      /** The hidden lines above. */
      readonly gap: Gap | null;
    }
  | {
      readonly kind: "line";
      readonly key: RowKey;
      readonly file: FileChange;
      readonly line: Line;
      readonly counterpart: Line | null;
    }
  | {
      readonly kind: "pair";
      readonly key: RowKey;
      readonly file: FileChange;
      readonly left: Line | null;
      readonly right: Line | null;
    }
  | { readonly kind: "comment"; readonly key: RowKey; readonly file: FileChange; readonly comment: Comment }
  | { readonly kind: "writing"; readonly key: RowKey; readonly file: FileChange };

export interface RowOptions {
  readonly view: DiffMode;
  /** Why a file is folded, by path; all others are open. */
  readonly folded: ReadonlyMap<string, string>;
  readonly comments: readonly Comment[];
  readonly writing: CommentAnchor | null;
}

export function buildRows(files: readonly FileChange[], options: RowOptions): Row[] {
  const rows: Row[] = [];
  const insertions = groupInsertions(options);
  for (const [f, file] of files.entries()) {
    rows.push({ kind: "file", key: `#${f}`, file });
    const why = options.folded.get(file.path);
    if (why === undefined && isShownAsImage(file)) rows.push({ kind: "image", key: `${f}i`, file });
    const note = why ?? fileNote(file);
    if (note !== null) rows.push({ kind: "note", key: `${f}!`, file, text: note, fold: why !== undefined });
    if (why !== undefined) continue;
    const fileInsertions = insertions.get(file.path);
    const gaps = findGaps(file);
    for (const [h, hunk] of hunkRows(file, options.view, f).entries()) {
      const [text, gap] = [file.hunks[h]?.header ?? "", gaps[h] ?? null];
      if (text !== "" || gap !== null) rows.push({ kind: "hunk", key: hunkKey(f, hunk), file, text, gap });
      for (const row of hunk) {
        rows.push(row);
        if (fileInsertions !== undefined) rows.push(...insertionsBelow(row, fileInsertions));
      }
    }
    const gap = gaps[file.hunks.length] ?? null;
    if (gap !== null) rows.push({ kind: "hunk", key: `${f}.`, file, text: "", gap });
  }
  return rows;
}

type CachedRows = {
  readonly view: DiffMode;
  readonly place: number;
  readonly hunks: readonly (readonly Row[])[];
};

const FILE_KEYS = 2 ** 28; // keys of the lines of one file, in both views

/**
 * The rows of each hunk. Law: the same file has the same rows, whatever is folded or commented, and the same line has the
 * same key, however many lines are shown. Keys are numbers, made of the file's place and the line's number; keys of other rows
 * are no plain numbers, which React takes for equal.
 */
const rowCache = new WeakMap<FileChange, CachedRows>();
function hunkRows(file: FileChange, view: DiffMode, place: number): CachedRows["hunks"] {
  const cached = rowCache.get(file);
  if (cached?.view === view && cached.place === place) return cached.hunks;
  const first = place * FILE_KEYS + (view === "split" ? FILE_KEYS / 2 : 0);
  let unnumbered = 0;
  const keyOf = (line: Line) => {
    if (line.new > 0) return first + 2 * line.new;
    return line.old > 0 ? first + 2 * line.old + 1 : -first - ++unnumbered;
  };
  const pair = (left: Line | null, right: Line | null): Row => ({
    kind: "pair",
    key: keyOf((right ?? left) as Line),
    file,
    left,
    right,
  });
  const single = (line: Line, counterpart: Line | null): Row => ({
    kind: "line",
    key: keyOf(line),
    file,
    line,
    counterpart,
  });
  const hunks = file.hunks.map((hunk) =>
    view === "split" ? pairLines(hunk, pair) : listLines(hunk, single),
  );
  rowCache.set(file, { view, place, hunks });
  return hunks;
}

/** By its first changed line: it stays when hidden lines around the hunk are shown. */
function hunkKey(place: number, rows: readonly Row[]): RowKey {
  const isChanged = (row: Row) =>
    row.kind === "pair" ? row.left !== row.right : row.kind === "line" && row.line.kind !== "same";
  return `${place}.${(rows.find(isChanged) ?? rows[0])?.key}`;
}

const IMAGE = /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i;

/** Whether its name is that of an image, and it was loaded with its content's ids. */
function isShownAsImage(file: FileChange): boolean {
  return file.blobs !== null && IMAGE.test(file.path) && (file.binary || /svg$/i.test(file.path));
}

/** Comments below lines of a file, by side and number; `null` is the comment form. */
type Insertions = Record<Side, Map<number, (Comment | null)[]>>;

function groupInsertions({ comments, writing }: RowOptions): ReadonlyMap<string, Insertions> {
  const found = new Map<string, Insertions>();
  const insert = ({ path, side, to }: CommentAnchor, what: Comment | null) => {
    const fileInsertions = found.get(path) ?? { old: new Map(), new: new Map() };
    fileInsertions[side].set(to, [...(fileInsertions[side].get(to) ?? []), what]);
    found.set(path, fileInsertions);
  };
  for (const comment of comments) insert(comment, comment);
  if (writing !== null) insert(writing, null);
  return found;
}

const NO_ROWS: readonly Row[] = [];

function insertionsBelow(row: Row, insertions: Insertions): readonly Row[] {
  if (row.kind === "line") return insertionsBelowLine(row.line, row.file, insertions);
  if (row.kind !== "pair") return NO_ROWS;
  const { left, right } = row;
  const [one, other] = [
    insertionsBelowLine(left, row.file, insertions),
    insertionsBelowLine(right, row.file, insertions),
  ];
  return left === right || other.length === 0 ? one : [...one, ...other];
}

function insertionsBelowLine(line: Line | null, file: FileChange, insertions: Insertions): readonly Row[] {
  const before = line === null ? undefined : insertions.old.get(line.old);
  const after = line === null ? undefined : insertions.new.get(line.new);
  if (before === undefined && after === undefined) return NO_ROWS;
  return [...(before ?? []), ...(after ?? [])].map((comment) =>
    comment === null
      ? { kind: "writing", key: "writing", file }
      : { kind: "comment", key: `c${comment.id}`, file, comment },
  );
}

/** The lines of a row, by side, that can be selected. */
export function rowLines(row: Row): { old: Line | null; new: Line | null } {
  if (row.kind === "pair") return { old: row.left, new: row.right };
  if (row.kind !== "line") return { old: null, new: null };
  return row.line.kind === "removed" ? { old: row.line, new: null } : { old: null, new: row.line };
}

function fileNote(file: FileChange): string | null {
  if (file.note !== null) return file.note;
  if (file.binary) return isShownAsImage(file) ? null : "Binary file not shown.";
  if (file.hunks.length > 0) return null;
  if (file.mode !== null) return "Only the file mode changed.";
  if (file.status === "renamed") return "Renamed without changes.";
  if (file.status === "copied") return "Copied without changes.";
  return file.status === "modified" ? "No changes to show." : "Empty file.";
}

/** Pairs removed lines with the added ones that replaced them; `made` builds each row. */
function pairLines<T>(hunk: Hunk, build: (left: Line | null, right: Line | null) => T): T[] {
  const found: T[] = [];
  for (const { removed, added, same } of changeRuns(hunk)) {
    for (let n = 0; n < Math.max(removed.length, added.length); n++)
      found.push(build(removed[n] ?? null, added[n] ?? null));
    for (const line of same) found.push(build(line, line));
  }
  return found;
}

/** Lines in git's order, each with its counterpart on the other side. */
function listLines<T>(hunk: Hunk, build: (line: Line, mate: Line | null) => T): T[] {
  const found: T[] = [];
  for (const { removed, added, same } of changeRuns(hunk)) {
    for (let n = 0; n < removed.length; n++) found.push(build(removed[n] as Line, added[n] ?? null));
    for (let n = 0; n < added.length; n++) found.push(build(added[n] as Line, removed[n] ?? null));
    for (const line of same) found.push(build(line, null));
  }
  return found;
}

/** Runs of removed lines, added lines, and unchanged lines after them. */
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

const LARGE_FILE_LINES = 800; // changed lines
const LOCK_FILE =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.ya?ml|bun\.lockb?|go\.sum|[^/]*\.lock|[^/]*-lock\.json|Package\.resolved)$/i;
const GENERATED_FILE = /\.(min\.(js|css)|map|snap)$|(^|\/)(dist|vendor|node_modules)\//i;

/** Why a file is folded, as a sentence; `null` if it isn't. */
export function foldReason({
  path,
  plus,
  minus,
}: Pick<FileChange, "path" | "plus" | "minus">): string | null {
  if (LOCK_FILE.test(path)) return "Lock file, collapsed by default.";
  if (GENERATED_FILE.test(path)) return "Generated file, collapsed by default.";
  if (plus + minus > LARGE_FILE_LINES)
    return `${(plus + minus).toLocaleString("en")} changed lines, collapsed by default.`;
  return null;
}
