import { describe, expect, it } from "vitest";
import { FOLD, LINE, LONGEST, lineAt, PART, rowAt, rowsOf } from "./rows";

const never = () => false;

function shown(text: string, columns: number, unfolded = never as (start: number) => boolean) {
  const { starts, ends, kinds } = rowsOf(text, columns, unfolded);
  return starts.map((start, i) => [text.slice(start, ends[i]), kinds[i]]);
}

describe("rows", () => {
  it("are the lines, where they fit", () => {
    expect(shown("one\n\ntwo\n", 10)).toEqual([
      ["one", LINE],
      ["", LINE],
      ["two", LINE],
    ]);
    expect(shown("", 10)).toEqual([]);
  });

  it("say that a line without its end goes on", () => {
    expect(shown("one\ntw", 10)).toEqual([
      ["one", LINE],
      ["tw", PART],
    ]);
  });

  it("go on in the next row where a line is too wide", () => {
    expect(shown("abcdefgh\n", 3)).toEqual([
      ["abc", PART],
      ["def", PART],
      ["gh", LINE],
    ]);
  });

  it("count tabs, wide characters and marks as they are drawn, and halve none", () => {
    expect(shown("a\tb\n", 8).map(([text]) => text)).toEqual(["a\t", "b"]);
    expect(shown("屋根屋\n", 4).map(([text]) => text)).toEqual(["屋根", "屋"]);
    expect(shown("e\u0301e\u0301e\n", 2).map(([text]) => text)).toEqual(["e\u0301e\u0301", "e"]);
    expect(shown("😀😀\n", 1).map(([text]) => text)).toEqual(["😀", "😀"]);
  });

  it("fold what is very long, until a person wants it", () => {
    const text = `${"x".repeat(LONGEST + 500)}\nend\n`;
    const folded = shown(text, 1000);
    expect(folded.map(([part, kind]) => [(part as string).length, kind])).toEqual([
      [1000, PART],
      [1000, PART],
      [500, FOLD],
      [3, LINE],
    ]);
    const whole = shown(text, 1000, (start) => start === 0);
    expect(whole.map(([part, kind]) => [(part as string).length, kind])).toEqual([
      [1000, PART],
      [1000, PART],
      [500, LINE],
      [3, LINE],
    ]);
  });

  it("are found by a character in them, and lines too", () => {
    const text = "abc\ndefgh\n";
    const rows = rowsOf(text, 3, never);
    expect([0, 3, 4, 7, 9].map((char) => rowAt(rows, char))).toEqual([0, 0, 1, 2, 2]);
    expect([0, 3, 4, 8].map((char) => lineAt(text, char))).toEqual([0, 0, 4, 4]);
  });
});
