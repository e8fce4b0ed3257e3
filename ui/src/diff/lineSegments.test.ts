import { describe, expect, it } from "vitest";
import { escapeSpecial, MAX_LINE_LENGTH, segmentLine } from "./lineSegments";

describe("a line in pieces", () => {
  it("is one piece where there is nothing to tell apart", () => {
    expect(segmentLine("<b>plain</b>")).toEqual([
      { text: "<b>plain</b>", changed: false, matched: false, special: false },
    ]);
    expect(segmentLine("")).toEqual([]);
  });

  it("is cut where words changed or were found", () => {
    const made = segmentLine("roof of wood", [[8, 12]], [[5, 10]]);
    expect(made.map(({ text, changed, matched }) => [text, changed, matched])).toEqual([
      ["roof ", false, false],
      ["of ", false, true],
      ["wo", true, true],
      ["od", true, false],
    ]);
  });

  it("spells out what would hide or deceive", () => {
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

  it("ends after so many letters", () => {
    const [only] = segmentLine("x".repeat(10_000));
    expect(only?.text).toHaveLength(MAX_LINE_LENGTH);
  });
});
