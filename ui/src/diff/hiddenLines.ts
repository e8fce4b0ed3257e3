/* The unchanged lines that git leaves out between the hunks of a file, and the file with some of them. Pure. */

import type { Side } from "./diffRows";
import { type FileChange, type Hunk, type Line, makeLine } from "./parseDiff";

export const EXPAND_STEP = 20; // lines at once

/** Line numbers on the new side, both included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** Hidden lines; `to` is infinite where the end of the file isn't known yet. */
export interface Gap extends LineRange {
  /** What has to be added to a line's number for its number on the old side. */
  readonly shift: number;
}

/** The whole text of a file after the change. */
export interface FileText {
  readonly lines: readonly string[];
  readonly endsWithNewline: boolean;
}

export function splitText(text: string): FileText {
  const lines = text.split("\n");
  const endsWithNewline = lines.at(-1) === "";
  if (endsWithNewline) lines.pop();
  return { lines, endsWithNewline };
}

const CONTEXT = 3; // unchanged lines with which git ends a hunk, unless the file ends before

/** The gap before each hunk, and the one after the last. */
export function findGaps({ hunks, status, note, length }: FileChange): (Gap | null)[] {
  if (hunks.length === 0 || status === "added" || status === "deleted" || note !== null) return [];
  const gaps: (Gap | null)[] = [];
  let before: Line | undefined;
  for (const { lines } of hunks) {
    const [first] = lines;
    gaps.push(first?.kind === "same" ? makeGap((before?.new ?? 0) + 1, first.new - 1, first) : null);
    before = lines.at(-1);
  }
  const end = hunks.at(-1)?.lines.slice(-CONTEXT) ?? [];
  const isCut = end.length === CONTEXT && end.every(({ kind, noNewline }) => kind === "same" && !noNewline);
  const knownEnd = length ?? (isCut ? Number.POSITIVE_INFINITY : 0);
  gaps.push(before?.kind === "same" ? makeGap(before.new + 1, knownEnd, before) : null);
  return gaps;
}

function makeGap(from: number, to: number, beside: Line): Gap | null {
  return beside.new > 0 && from <= to ? { from, to, shift: beside.old - beside.new } : null;
}

export type Direction = "down" | "up" | "all";

/** What can be shown of a gap next: further down from the hunk above it, up from the one below, or all that is left. */
export function expansions(gap: Gap): (LineRange & { readonly direction: Direction })[] {
  const { from, to } = gap;
  if (to - from < EXPAND_STEP) return [{ direction: "all", from, to }];
  const down = { direction: "down", from, to: from + EXPAND_STEP - 1 } as const;
  const up = { direction: "up", from: to - EXPAND_STEP + 1, to } as const;
  if (from === 1) return [up];
  return Number.isFinite(to) ? [down, up] : [down];
}

/** The hidden lines around a line, by its number on a side; null if it isn't hidden. */
export function rangeAround(file: FileChange, side: Side, n: number): LineRange | null {
  for (const gap of findGaps(file)) {
    const place = gap === null || side === "new" ? n : n - gap.shift;
    if (gap !== null && gap.from <= place && place <= gap.to)
      return { from: Math.max(gap.from, place - CONTEXT), to: Math.min(gap.to, place + CONTEXT) };
  }
  return null;
}

/** The file as git's diff has it, with the hidden lines in these ranges. Hunks that meet become one. */
export function showLines(file: FileChange, text: FileText, ranges: readonly LineRange[]): FileChange {
  const whole = { ...file, length: text.lines.length };
  const usualCr = isCrUsual(file, text);
  const isShown = (n: number) => ranges.some(({ from, to }) => from <= n && n <= to);
  const hunks: Hunk[] = [];
  let lines: Line[] = [];
  let last: Hunk | undefined;
  const endHunk = () => {
    if (last !== undefined && last.lines.length === lines.length) hunks.push(last);
    else if (lines.length > 0) hunks.push({ header: formatHeader(lines, text), lines });
    [lines, last] = [[], undefined];
  };
  for (const [place, gap] of findGaps(whole).entries()) {
    if (gap === null) endHunk();
    else {
      for (let n = gap.from; n <= gap.to; n++) {
        if (isShown(n)) lines.push(unchangedLine(text, n, gap.shift, usualCr));
        else endHunk();
      }
    }
    last = file.hunks[place];
    for (const line of last?.lines ?? []) lines.push(line);
  }
  endHunk();
  return { ...whole, hunks };
}

function unchangedLine(text: FileText, n: number, shift: number, usualCr: boolean): Line {
  const line = makeLine("same", n + shift, n, text.lines[n - 1] ?? "", 0);
  const noNewline = n === text.lines.length && !text.endsWithNewline;
  return { ...line, endsWithCr: line.endsWithCr && !usualCr, noNewline };
}

/** Whether lines of the diff have a carriage return that isn't marked, as all of them have one. */
function isCrUsual({ hunks }: FileChange, { lines: all }: FileText): boolean {
  return hunks.some(({ lines }) =>
    lines.some((line) => !line.endsWithCr && all[line.new - 1]?.endsWith("\r")),
  );
}

const SECTION = /^[A-Za-z_$]/; // as git recognises the line that names a section
const MAX_SECTION = 80;

/** As git prints it; empty at the beginning of the file, where it would say nothing. */
function formatHeader(lines: readonly Line[], text: FileText): string {
  const first = { old: 0, new: 0 };
  const count = { old: 0, new: 0 };
  for (const line of lines) {
    for (const side of ["old", "new"] as const) {
      if (line[side] === 0) continue;
      first[side] ||= line[side];
      count[side] += 1;
    }
  }
  if (first.new <= 1) return "";
  const section = text.lines.slice(0, first.new - 1).findLast((line) => SECTION.test(line));
  const range = `@@ -${first.old},${count.old} +${first.new},${count.new} @@`;
  return section === undefined ? range : `${range} ${section.slice(0, MAX_SECTION).trimEnd()}`;
}
