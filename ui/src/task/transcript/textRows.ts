/* Splits a text into rows of equal height: wide lines wrap as in a terminal, and very long ones are folded. Pure. */

import type { Page } from "./transcriptPages";

/** How a row ends: with its line, within it, or it stands for folded text. */
export const ROW_LINE = 0;
export const ROW_PART = 1;
export const ROW_FOLD = 2;
type RowKind = typeof ROW_LINE | typeof ROW_PART | typeof ROW_FOLD;

/** The start and end of each row in the text. */
interface TextRows {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly kinds: readonly RowKind[];
}

export const MAX_LINE_LENGTH = 2000; // characters of a line before it is folded
const TAB_WIDTH = 8;

/** `unfolded` has the starts of lines that are shown in full. */
export function splitRows(text: string, columns: number, unfolded: (start: number) => boolean): TextRows {
  const rows: WritableRows = { starts: [], ends: [], kinds: [] };
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    addLine(rows, text, start, end, columns, unfolded(start));
    start = end + 1;
  }
  if (text !== "" && !text.endsWith("\n") && rows.kinds.at(-1) === ROW_LINE)
    rows.kinds[rows.kinds.length - 1] = ROW_PART;
  return rows;
}

/** The row that this character is in. */
export function rowAt({ starts }: TextRows, char: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= char) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** The start of the line that contains this character. */
export function lineStart(text: string, char: number): number {
  return char === 0 ? 0 : text.lastIndexOf("\n", char - 1) + 1;
}

type WritableRows = { starts: number[]; ends: number[]; kinds: RowKind[] };

function addLine(
  rows: WritableRows,
  text: string,
  start: number,
  end: number,
  columns: number,
  unfold: boolean,
): void {
  const folded = !unfold && end - start > MAX_LINE_LENGTH;
  const shown = folded ? start + MAX_LINE_LENGTH : end;
  let at = start;
  do {
    const stop = rowEnd(text, at, shown, columns);
    addRow(rows, at, stop, stop < shown || folded ? ROW_PART : ROW_LINE);
    at = stop;
  } while (at < shown);
  if (folded) addRow(rows, shown, end, ROW_FOLD);
}

function addRow(rows: WritableRows, start: number, end: number, kind: RowKind): void {
  rows.starts.push(start);
  rows.ends.push(end);
  rows.kinds.push(kind);
}

/** The end of a row that begins at `at`: at least one character, and never half of one. */
function rowEnd(text: string, at: number, end: number, columns: number): number {
  let column = 0;
  for (let i = at; i < end; ) {
    const code = text.codePointAt(i) ?? 0;
    const next = i + (code > 0xffff ? 2 : 1);
    column += code === 9 ? TAB_WIDTH - (column % TAB_WIDTH) : charWidth(code);
    if (column > columns && i > at) return i;
    i = next;
  }
  return end;
}

function charWidth(code: number): number {
  if (code < 0x300) return 1;
  if (WIDE_RANGES.some(([from, to]) => code >= from && code <= to)) return 2;
  return ZERO_WIDTH.test(String.fromCodePoint(code)) ? 0 : 1;
}

const ZERO_WIDTH = /^[\p{M}\p{Cf}]$/u;
const WIDE_RANGES: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];

export interface PageRows {
  readonly page: Page;
  readonly rows: TextRows;
  /** The number of rows before it. */
  readonly first: number;
  /** Omitted and empty pages have a row too, but of the pages within one long line only the first. */
  readonly count: number;
  /** What this page and those after it leave out of a long line; 0 if a page before it says so. */
  readonly skippedBytes: number;
}

export class RowLayout {
  columns = 80;
  private readonly unfolded = new Set<string>();
  /** The layout of rows: columns, and unfolded lines. */
  private readonly rowKeys = new WeakMap<TextRows, string>();

  /** Unfolds the line that contains this character. */
  unfold(page: Page, char: number): void {
    this.unfolded.add(`${page.index} ${lineStart(page.text, char)}`);
  }

  /** `before`: the rows that are laid out already. */
  arrange(
    pages: readonly Page[],
    before: readonly PageRows[],
  ): { pageRows: readonly PageRows[]; total: number } {
    const known = new Map(before.map(({ page, rows }) => [page, rows]));
    let first = 0;
    const pageRows = pages.map((page, at) => {
      const rows = this.splitPage(page, known.get(page));
      const skippedBytes = isWithinLine(pages[at - 1]) ? 0 : countSkipped(pages, at);
      const least = isWithinLine(page) && skippedBytes === 0 ? 0 : 1;
      const each = { page, rows, first, count: Math.max(least, rows.starts.length), skippedBytes };
      first += each.count;
      return each;
    });
    return { pageRows, total: first };
  }

  private splitPage(page: Page, known: TextRows | undefined): TextRows {
    const name = `${this.columns} ${[...this.unfolded].filter((each) => each.startsWith(`${page.index} `))}`;
    if (known !== undefined && this.rowKeys.get(known) === name) return known;
    const rows = splitRows(page.text, this.columns, (start) => this.unfolded.has(`${page.index} ${start}`));
    this.rowKeys.set(rows, name);
    return rows;
  }
}

/** It has nothing but a part of a long line. */
function isWithinLine(page: Page | undefined): boolean {
  return page !== undefined && page.skippedBytes > 0 && page.text === "";
}

/** What these pages leave out of the line that is on this one. */
function countSkipped(pages: readonly Page[], at: number): number {
  let bytes = 0;
  for (let next = at; (pages[next]?.skippedBytes ?? 0) > 0; next += 1)
    bytes += pages[next]?.skippedBytes ?? 0;
  return bytes;
}
