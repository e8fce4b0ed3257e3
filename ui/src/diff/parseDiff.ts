/* Parses git's unified diff. Hunks are read by their line counts, so a removed line `-- a/x` is never taken for a header.

   Law: parsing always ends, and what can't be parsed is kept as a note. */

import type { Diff } from "../api/types";

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const TRUNCATED_NOTE = "Truncated: the rest of this file is not shown.";
const COMBINED_NOTE = "Combined diff of a merge, without line numbers.";

export function parseDiff(text: string): FileChange[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: FileChange[] = [];
  const reader = new DiffReader(lines);
  while (reader.nextFile()) files.push(reader.readFile());
  return files;
}

interface FileDraft {
  names: [string, string];
  status: FileStatus;
  modes: [string, string];
  binary: boolean;
  note: string | null;
  blobs: string | null;
}

class DiffReader {
  private at = 0;

  constructor(private readonly lines: readonly string[]) {}

  /** Skips to the next file header; text before the first one is ignored. */
  nextFile(): boolean {
    while (this.at < this.lines.length && !isFileHeader(this.line)) this.at += 1;
    return this.at < this.lines.length;
  }

  readFile(): FileChange {
    const first = this.line;
    this.at += 1;
    const combined = first.startsWith("diff --git ") ? null : first.replace(/^diff --(cc|combined) /, "");
    const draft: FileDraft = {
      names: combined === null ? (parseNames(first) ?? ["", ""]) : [unquote(combined), unquote(combined)],
      status: "modified",
      modes: ["", ""],
      binary: false,
      note: combined === null ? null : COMBINED_NOTE,
      blobs: null,
    };
    while (!this.atEnd && !this.line.startsWith("@@")) this.readHeader(draft);
    const hunks = combined === null ? this.readHunks(draft) : this.readCombined();
    return buildFile(draft, hunks);
  }

  private get line(): string {
    return this.lines[this.at] ?? "";
  }

  private get atEnd(): boolean {
    return this.at >= this.lines.length || isFileHeader(this.line);
  }

  private readHeader(draft: FileDraft): void {
    const line = this.line;
    this.at += 1;
    const [before, after] = draft.names;
    const valueAfter = (start: string) => (line.startsWith(start) ? line.slice(start.length) : null);
    const name = (start: string) => {
      const text = valueAfter(start);
      return text === null ? null : unquote(text.replace(/\t$/, ""));
    };
    const from = name("rename from ") ?? name("copy from ");
    const to = name("rename to ") ?? name("copy to ");
    const was = name("--- ");
    const is = name("+++ ");
    if (from !== null) draft.names = [from, after];
    if (to !== null) draft.names = [before, to];
    if (was !== null && was !== "/dev/null") draft.names = [stripPrefix(was), after || stripPrefix(was)];
    if (is !== null && is !== "/dev/null") draft.names = [before || stripPrefix(is), stripPrefix(is)];
    draft.blobs = valueAfter("index ")?.split(" ")[0] ?? draft.blobs;
    if (valueAfter("rename ") !== null) draft.status = "renamed";
    if (valueAfter("copy ") !== null) draft.status = "copied";
    if (valueAfter("new file") !== null) draft.status = "added";
    if (valueAfter("deleted file") !== null) draft.status = "deleted";
    draft.modes = [valueAfter("old mode ") ?? draft.modes[0], valueAfter("new mode ") ?? draft.modes[1]];
    if (line.startsWith("Binary files ") || line === "GIT binary patch") draft.binary = true;
  }

  private readHunks(draft: FileDraft): Hunk[] {
    const hunks: Hunk[] = [];
    while (!this.atEnd) {
      const header = this.line;
      const numbers = HUNK.exec(header);
      this.at += 1;
      if (numbers === null) continue;
      const [old, oldCount, next, newCount] = [numbers[1], numbers[2] ?? 1, numbers[3], numbers[4] ?? 1].map(
        Number,
      );
      const body = this.readBody([old ?? 0, next ?? 0], [oldCount ?? 1, newCount ?? 1]);
      if (body.cut) draft.note = TRUNCATED_NOTE;
      hunks.push({ header, lines: body.lines });
    }
    return hunks;
  }

  private readBody(at: [number, number], left: [number, number]): { lines: Line[]; cut: boolean } {
    const lines: Line[] = [];
    while ((left[0] > 0 || left[1] > 0) && this.at < this.lines.length) {
      const text = this.line;
      const sign = text[0];
      if (sign === "\\") markNoNewline(lines);
      else if (sign === "+") lines.push(makeLine("added", 0, at[1]++, text)) && left[1]--;
      else if (sign === "-") lines.push(makeLine("removed", at[0]++, 0, text)) && left[0]--;
      else if (sign === " " || sign === undefined || sign === "\r") {
        lines.push(makeLine("same", at[0]++, at[1]++, text));
        left[0]--;
        left[1]--;
      } else return { lines, cut: true };
      this.at += 1;
    }
    if (this.line.startsWith("\\")) {
      markNoNewline(lines);
      this.at += 1;
    }
    return { lines, cut: left[0] > 0 || left[1] > 0 };
  }

  /** Lines of a combined diff, classified by their leading signs. */
  private readCombined(): Hunk[] {
    const hunks: { header: string; lines: Line[] }[] = [];
    for (; !this.atEnd; this.at += 1) {
      const text = this.line;
      if (text.startsWith("@@@")) hunks.push({ header: text, lines: [] });
      else hunks.at(-1)?.lines.push(makeLine(combinedKind(text), 0, 0, text, 0));
    }
    return hunks;
  }
}

function isFileHeader(line: string): boolean {
  return (
    line.startsWith("diff --git ") || line.startsWith("diff --cc ") || line.startsWith("diff --combined ")
  );
}

function combinedKind(text: string): LineKind {
  const signs = text.slice(0, 2);
  return signs.includes("+") ? "added" : signs.includes("-") ? "removed" : "same";
}

export function makeLine(kind: LineKind, old: number, next: number, text: string, skip = 1): Line {
  const cr = text.endsWith("\r");
  return {
    kind,
    old,
    new: next,
    text: text.slice(skip, cr ? -1 : undefined),
    endsWithCr: cr,
    noNewline: false,
  };
}

function markNoNewline(lines: Line[]): void {
  const last = lines.pop();
  if (last !== undefined) lines.push({ ...last, noNewline: true });
}

/** Where all lines end with a carriage return, that is how lines of the file end; its last line may not end at all. */
function withoutUsualCr(hunks: readonly Hunk[]): readonly Hunk[] {
  if (!hunks.every(({ lines }) => lines.every((line) => line.endsWithCr || line.noNewline))) return hunks;
  return hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line) => ({ ...line, endsWithCr: false })),
  }));
}

function buildFile(draft: FileDraft, hunks: readonly Hunk[]): FileChange {
  const [before, after] = draft.names;
  let plus = 0;
  let minus = 0;
  for (const { lines } of hunks) {
    for (const { kind } of lines) {
      if (kind === "added") plus += 1;
      else if (kind === "removed") minus += 1;
    }
  }
  const [was, is] = draft.modes;
  return {
    path: draft.status === "deleted" ? before || after : after || before,
    before: before !== after && draft.status !== "added" && draft.status !== "deleted" ? before : null,
    status: draft.status,
    mode: was !== "" && is !== "" ? `${was} → ${is}` : null,
    binary: draft.binary,
    plus,
    minus,
    hunks: withoutUsualCr(hunks),
    note: draft.note,
    length: null,
    tasks: [],
    blobs: draft.blobs,
  };
}

type LineKind = "same" | "added" | "removed";

export interface Line {
  readonly kind: LineKind;
  /** Line numbers before and after; 0 on the side that lacks the line. */
  readonly old: number;
  readonly new: number;
  /** Without its line end. */
  readonly text: string;
  /** It ends with a carriage return, unlike other lines. */
  readonly endsWithCr: boolean;
  /** The file ends here without a newline. */
  readonly noNewline: boolean;
}

export interface Hunk {
  /** As git prints it: `@@ -1,4 +1,6 @@ def roof():`. */
  readonly header: string;
  readonly lines: readonly Line[];
}

type FileStatus = "added" | "deleted" | "renamed" | "copied" | "modified";

export interface FileChange {
  readonly path: string;
  /** Its former name, if it was renamed. */
  readonly before: string | null;
  readonly status: FileStatus;
  /** `100644 → 100755`, where it changed. */
  readonly mode: string | null;
  readonly binary: boolean;
  readonly plus: number;
  readonly minus: number;
  readonly hunks: readonly Hunk[];
  /** Why the file shows no or few lines, as a sentence. */
  readonly note: string | null;
  /** How many lines it has after the change, where that is known. */
  readonly length: number | null;
  /** In the diff of a batch, the tasks that changed it. */
  readonly tasks: readonly string[];
  /** The short ids of its content before and after: `1a9b836..928a5ac`. */
  readonly blobs: string | null;
}

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The name in git's quotes, or the text itself. */
function unquote(text: string): string {
  return text.startsWith('"') ? readQuoted(text, 0).name : text;
}

/** The quoted name at this position, and the position after it; an unclosed one extends to the end. */
function readQuoted(text: string, start: number): { name: string; end: number } {
  const bytes: number[] = [];
  let at = start + 1;
  while (at < text.length && text[at] !== '"') {
    if (text[at] === "\\") at = readEscape(text, at + 1, bytes);
    else {
      const letter = String.fromCodePoint(text.codePointAt(at) ?? 0);
      bytes.push(...encoder.encode(letter));
      at += letter.length;
    }
  }
  return { name: decoder.decode(new Uint8Array(bytes)), end: at + 1 };
}

function readEscape(text: string, at: number, bytes: number[]): number {
  const octal = /^[0-3][0-7]{2}/.exec(text.slice(at, at + 3));
  if (octal !== null) {
    bytes.push(Number.parseInt(octal[0], 8));
    return at + 3;
  }
  const letter = text[at] ?? "";
  bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0));
  return at + 1;
}

/** Both names in `diff --git a/X b/X`, as far as the line is unambiguous. */
function parseNames(line: string): [string, string] | null {
  const text = line.slice("diff --git ".length);
  if (text.startsWith('"')) {
    const { name, end } = readQuoted(text, 0);
    return [stripPrefix(name), stripPrefix(unquote(text.slice(end + 1)))];
  }
  if (text.endsWith('"')) {
    const cut = text.indexOf(' "');
    return cut < 0 ? null : [stripPrefix(text.slice(0, cut)), stripPrefix(unquote(text.slice(cut + 1)))];
  }
  // Different names are repeated in later lines; equal ones have the same length.
  const half = (text.length - 1) / 2;
  const [before, after] = [stripPrefix(text.slice(0, half)), stripPrefix(text.slice(half + 1))];
  return before === after && before !== "" ? [before, after] : null;
}

/** Without git's `a/` or `b/`. */
function stripPrefix(name: string): string {
  return /^[ab]\//.test(name) ? name.slice(2) : name;
}

const NOT_SENT_NOTE = "Not loaded: the diff was truncated before this file.";

/** The parsed files, and those that only the file list has. */
export function listFiles(diff: Pick<Diff, "files">, text: string): FileChange[] {
  const parsed = parseDiff(text);
  const known = new Map(parsed.map((file) => [file.path, file]));
  const listed = diff.files.map(({ path, before, plus, minus, binary, tasks }): FileChange => {
    const file = known.get(path);
    known.delete(path);
    if (file !== undefined) return file.note === null ? { ...file, tasks } : { ...file, tasks, plus, minus };
    return {
      path,
      before,
      plus,
      minus,
      binary,
      status: "modified",
      mode: null,
      hunks: [],
      note: NOT_SENT_NOTE,
      length: null,
      tasks,
      blobs: null,
    };
  });
  return [...listed, ...known.values()];
}
