import { describe, expect, it } from "vitest";
import { escapeSpecial, MAX_LINE_LENGTH, segmentLine } from "./lineSegments";

describe("line segments", () => {
  it("are one segment if nothing is special", () => {
    expect(segmentLine("<b>plain</b>")).toEqual([
      { text: "<b>plain</b>", changed: false, matched: false, special: false, syntax: null },
    ]);
    expect(segmentLine("")).toEqual([]);
  });

  it("are split at changed words and matches", () => {
    const made = segmentLine("roof of wood", [[8, 12]], [[5, 10]]);
    expect(made.map(({ text, changed, matched }) => [text, changed, matched])).toEqual([
      ["roof ", false, false],
      ["of ", false, true],
      ["wo", true, true],
      ["od", true, false],
    ]);
  });

  it("are split at syntax, also within a changed word", () => {
    const syntax = [{ start: 0, end: 2, syntax: "keyword" as const }];
    expect(
      segmentLine("if ab", [[1, 4]], [], syntax).map((each) => [each.text, each.changed, each.syntax]),
    ).toEqual([
      ["i", false, "keyword"],
      ["f", true, "keyword"],
      [" a", true, null],
      ["b", false, null],
    ]);
  });

  it("spell out invisible and bidirectional characters", () => {
    expect(segmentLine("a\u202eb\x1b[31m\u200bc").map(({ text, special }) => [text, special])).toEqual([
      ["a", false],
      ["<U+202E>", true],
      ["b", false],
      ["␛", true],
      ["[31m", false],
      ["<U+200B>", true],
      ["c", false],
    ]);
    expect(escapeSpecial("evil\u202egpj.exe\n")).toBe("evil<U+202E>gpj.exe␊");
    expect(escapeSpecial("schön/日本.txt")).toBe("schön/日本.txt");
  });

  it("end at the length limit", () => {
    const [only] = segmentLine("x".repeat(10_000));
    expect(only?.text).toHaveLength(MAX_LINE_LENGTH);
  });
});
