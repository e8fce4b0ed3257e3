/* A text as rows of a fixed height: lines that are too wide go on in the next row, as in a terminal, and very long ones
   are folded. Pure. */

/** How a row ends: with its line; within it; or it stands for what is folded. */
export const LINE = 0;
export const PART = 1;
export const FOLD = 2;
export type RowKind = typeof LINE | typeof PART | typeof FOLD;

/** Of each row, where it starts and ends in the text. */
export interface Rows {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly kinds: readonly RowKind[];
}

export const LONGEST = 2000; // characters of a line before it is folded
const TAB = 8;

/** `unfolded` says of a line, by where it starts, that a person wants all of it. */
export function rowsOf(text: string, columns: number, unfolded: (start: number) => boolean): Rows {
  const rows: Writable = { starts: [], ends: [], kinds: [] };
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    addLine(rows, text, start, end, columns, unfolded(start));
    start = end + 1;
  }
  if (text !== "" && !text.endsWith("\n") && rows.kinds.at(-1) === LINE)
    rows.kinds[rows.kinds.length - 1] = PART;
  return rows;
}

/** The row that this character is in. */
export function rowAt({ starts }: Rows, char: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= char) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** Where the line that this character is in starts. */
export function lineAt(text: string, char: number): number {
  return char === 0 ? 0 : text.lastIndexOf("\n", char - 1) + 1;
}

type Writable = { starts: number[]; ends: number[]; kinds: RowKind[] };

function addLine(
  rows: Writable,
  text: string,
  start: number,
  end: number,
  columns: number,
  whole: boolean,
): void {
  const folded = !whole && end - start > LONGEST;
  const shown = folded ? start + LONGEST : end;
  let at = start;
  do {
    const stop = fits(text, at, shown, columns);
    add(rows, at, stop, stop < shown || folded ? PART : LINE);
    at = stop;
  } while (at < shown);
  if (folded) add(rows, shown, end, FOLD);
}

function add(rows: Writable, start: number, end: number, kind: RowKind): void {
  rows.starts.push(start);
  rows.ends.push(end);
  rows.kinds.push(kind);
}

/** How far a row goes that begins at `at`: one character at least, and never half of one. */
function fits(text: string, at: number, end: number, columns: number): number {
  let column = 0;
  for (let i = at; i < end; ) {
    const code = text.codePointAt(i) ?? 0;
    const next = i + (code > 0xffff ? 2 : 1);
    column += code === 9 ? TAB - (column % TAB) : width(code);
    if (column > columns && i > at) return i;
    i = next;
  }
  return end;
}

function width(code: number): number {
  if (code < 0x300) return 1;
  if (WIDE.some(([from, to]) => code >= from && code <= to)) return 2;
  return NO_WIDTH.test(String.fromCodePoint(code)) ? 0 : 1;
}

const NO_WIDTH = /^[\p{M}\p{Cf}]$/u;
const WIDE: readonly (readonly [number, number])[] = [
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
