import { describe, expect, it } from "vitest";
import { lineStart, MAX_LINE_LENGTH, ROW_FOLD, ROW_LINE, ROW_PART, rowAt, splitRows } from "./textRows";

const never = () => false;

function shown(text: string, columns: number, unfolded = never as (start: number) => boolean) {
  const { starts, ends, kinds } = splitRows(text, columns, unfolded);
  return starts.map((start, i) => [text.slice(start, ends[i]), kinds[i]]);
}

describe("rows", () => {
  it("are the lines, if they fit", () => {
    expect(shown("one\n\ntwo\n", 10)).toEqual([
      ["one", ROW_LINE],
      ["", ROW_LINE],
      ["two", ROW_LINE],
    ]);
    expect(shown("", 10)).toEqual([]);
  });

  it("mark a line that continues beyond the page", () => {
    expect(shown("one\ntw", 10)).toEqual([
      ["one", ROW_LINE],
      ["tw", ROW_PART],
    ]);
  });

  it("wrap lines that are too wide", () => {
    expect(shown("abcdefgh\n", 3)).toEqual([
      ["abc", ROW_PART],
      ["def", ROW_PART],
      ["gh", ROW_LINE],
    ]);
  });

  it("measure tabs, wide characters and combining marks as rendered, and split none", () => {
    expect(shown("a\tb\n", 8).map(([text]) => text)).toEqual(["a\t", "b"]);
    expect(shown("屋根屋\n", 4).map(([text]) => text)).toEqual(["屋根", "屋"]);
    expect(shown("e\u0301e\u0301e\n", 2).map(([text]) => text)).toEqual(["e\u0301e\u0301", "e"]);
    expect(shown("😀😀\n", 1).map(([text]) => text)).toEqual(["😀", "😀"]);
  });

  it("fold very long lines until they are unfolded", () => {
    const text = `${"x".repeat(MAX_LINE_LENGTH + 500)}\nend\n`;
    const folded = shown(text, 1000);
    expect(folded.map(([part, kind]) => [(part as string).length, kind])).toEqual([
      [1000, ROW_PART],
      [1000, ROW_PART],
      [500, ROW_FOLD],
      [3, ROW_LINE],
    ]);
    const whole = shown(text, 1000, (start) => start === 0);
    expect(whole.map(([part, kind]) => [(part as string).length, kind])).toEqual([
      [1000, ROW_PART],
      [1000, ROW_PART],
      [500, ROW_LINE],
      [3, ROW_LINE],
    ]);
  });

  it("are found by a character, as are lines", () => {
    const text = "abc\ndefgh\n";
    const rows = splitRows(text, 3, never);
    expect([0, 3, 4, 7, 9].map((char) => rowAt(rows, char))).toEqual([0, 0, 1, 2, 2]);
    expect([0, 3, 4, 8].map((char) => lineStart(text, char))).toEqual([0, 0, 4, 4]);
  });
});
