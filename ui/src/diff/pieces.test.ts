import { describe, expect, it } from "vitest";
import { LONGEST, pieces, plain } from "./pieces";

describe("a line in pieces", () => {
  it("is one piece where there is nothing to tell apart", () => {
    expect(pieces("<b>plain</b>")).toEqual([
      { text: "<b>plain</b>", marked: false, found: false, odd: false },
    ]);
    expect(pieces("")).toEqual([]);
  });

  it("is cut where words changed or were found", () => {
    const made = pieces("roof of wood", [[8, 12]], [[5, 10]]);
    expect(made.map(({ text, marked, found }) => [text, marked, found])).toEqual([
      ["roof ", false, false],
      ["of ", false, true],
      ["wo", true, true],
      ["od", true, false],
    ]);
  });

  it("spells out what would hide or deceive", () => {
    expect(pieces("a\u202eb\x1b[31m\u200bc").map(({ text, odd }) => [text, odd])).toEqual([
      ["a", false],
      ["<U+202E>", true],
      ["b", false],
      ["␛", true],
      ["[31m", false],
      ["<U+200B>", true],
      ["c", false],
    ]);
    expect(plain("evil\u202egpj.exe\n")).toBe("evil<U+202E>gpj.exe␊");
    expect(plain("schön/日本.txt")).toBe("schön/日本.txt");
  });

  it("ends after so many letters", () => {
    const [only] = pieces("x".repeat(10_000));
    expect(only?.text).toHaveLength(LONGEST);
  });
});
