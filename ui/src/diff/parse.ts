/* Git's unified diff, read. Hunks are read by their counts, so a removed line `-- a/x` is never taken for a header.

   Law: whatever the text is, this ends, and nothing that it can't read is lost: it is a note. */

import type { FileChange, FileStatus, Hunk, Kind, Line } from "./change";
import { bare, namesIn, unquoted } from "./quoting";

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const CUT = "The text ends here: the rest of this file is not shown.";
const COMBINED = "A merge of several sides, as git tells it: line numbers are left out.";

export function parse(text: string): FileChange[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: FileChange[] = [];
  const reader = new Reader(lines);
  while (reader.toFile()) files.push(reader.file());
  return files;
}

interface Draft {
  names: [string, string];
  status: FileStatus;
  modes: [string, string];
  binary: boolean;
  note: string | null;
}

class Reader {
  private at = 0;

  constructor(private readonly lines: readonly string[]) {}

  /** To the next file; what stands before the first is nobody's. */
  toFile(): boolean {
    while (this.at < this.lines.length && !beginsFile(this.now)) this.at += 1;
    return this.at < this.lines.length;
  }

  file(): FileChange {
    const first = this.now;
    this.at += 1;
    const combined = first.startsWith("diff --git ") ? null : first.replace(/^diff --(cc|combined) /, "");
    const draft: Draft = {
      names: combined === null ? (namesIn(first) ?? ["", ""]) : [unquoted(combined), unquoted(combined)],
      status: "modified",
      modes: ["", ""],
      binary: false,
      note: combined === null ? null : COMBINED,
    };
    while (!this.over && !this.now.startsWith("@@")) this.header(draft);
    const hunks = combined === null ? this.hunks(draft) : this.raw();
    return made(draft, hunks);
  }

  private get now(): string {
    return this.lines[this.at] ?? "";
  }

  private get over(): boolean {
    return this.at >= this.lines.length || beginsFile(this.now);
  }

  private header(draft: Draft): void {
    const line = this.now;
    this.at += 1;
    const [before, after] = draft.names;
    const said = (start: string) => (line.startsWith(start) ? line.slice(start.length) : null);
    const name = (start: string) => {
      const words = said(start);
      return words === null ? null : unquoted(words.replace(/\t$/, ""));
    };
    const from = name("rename from ") ?? name("copy from ");
    const to = name("rename to ") ?? name("copy to ");
    const was = name("--- ");
    const is = name("+++ ");
    if (from !== null) draft.names = [from, after];
    if (to !== null) draft.names = [before, to];
    if (was !== null && was !== "/dev/null") draft.names = [bare(was), after || bare(was)];
    if (is !== null && is !== "/dev/null") draft.names = [before || bare(is), bare(is)];
    if (said("rename ") !== null) draft.status = "renamed";
    if (said("copy ") !== null) draft.status = "copied";
    if (said("new file") !== null) draft.status = "added";
    if (said("deleted file") !== null) draft.status = "deleted";
    draft.modes = [said("old mode ") ?? draft.modes[0], said("new mode ") ?? draft.modes[1]];
    if (line.startsWith("Binary files ") || line === "GIT binary patch") draft.binary = true;
  }

  private hunks(draft: Draft): Hunk[] {
    const hunks: Hunk[] = [];
    while (!this.over) {
      const header = this.now;
      const told = HUNK.exec(header);
      this.at += 1;
      if (told === null) continue;
      const [old, oldCount, next, newCount] = [told[1], told[2] ?? 1, told[3], told[4] ?? 1].map(Number);
      const body = this.body([old ?? 0, next ?? 0], [oldCount ?? 1, newCount ?? 1]);
      if (body.cut) draft.note = CUT;
      hunks.push({ header, lines: body.lines });
    }
    return hunks;
  }

  private body(at: [number, number], left: [number, number]): { lines: Line[]; cut: boolean } {
    const lines: Line[] = [];
    while ((left[0] > 0 || left[1] > 0) && this.at < this.lines.length) {
      const text = this.now;
      const sign = text[0];
      if (sign === "\\") bareLast(lines);
      else if (sign === "+") lines.push(line("added", 0, at[1]++, text)) && left[1]--;
      else if (sign === "-") lines.push(line("removed", at[0]++, 0, text)) && left[0]--;
      else if (sign === " " || sign === undefined || sign === "\r") {
        lines.push(line("same", at[0]++, at[1]++, text));
        left[0]--;
        left[1]--;
      } else return { lines, cut: true };
      this.at += 1;
    }
    if (this.now.startsWith("\\")) {
      bareLast(lines);
      this.at += 1;
    }
    return { lines, cut: left[0] > 0 || left[1] > 0 };
  }

  /** Of a combined diff: every line as it stands, by its first signs. */
  private raw(): Hunk[] {
    const hunks: { header: string; lines: Line[] }[] = [];
    for (; !this.over; this.at += 1) {
      const text = this.now;
      if (text.startsWith("@@@")) hunks.push({ header: text, lines: [] });
      else hunks.at(-1)?.lines.push(line(kindOf(text), 0, 0, text, 0));
    }
    return hunks;
  }
}

function beginsFile(line: string): boolean {
  return (
    line.startsWith("diff --git ") || line.startsWith("diff --cc ") || line.startsWith("diff --combined ")
  );
}

function kindOf(text: string): Kind {
  const signs = text.slice(0, 2);
  return signs.includes("+") ? "added" : signs.includes("-") ? "removed" : "same";
}

function line(kind: Kind, old: number, next: number, text: string, skip = 1): Line {
  const cr = text.endsWith("\r");
  return { kind, old, new: next, text: text.slice(skip, cr ? -1 : undefined), cr, bare: false };
}

function bareLast(lines: Line[]): void {
  const last = lines.pop();
  if (last !== undefined) lines.push({ ...last, bare: true });
}

function made(draft: Draft, hunks: readonly Hunk[]): FileChange {
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
    hunks,
    note: draft.note,
  };
}
