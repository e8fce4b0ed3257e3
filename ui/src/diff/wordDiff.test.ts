import { describe, expect, it } from "vitest";
import { diffWords } from "./wordDiff";

const shown = (text: string, ranges: readonly (readonly [number, number])[]) =>
  ranges.map(([start, end]) => text.slice(start, end));

describe("the words that changed within a line", () => {
  it("are marked on both sides", () => {
    const [before, after] = ["return roof(wood, 3)", "return roof(stone, 3, tiles)"];
    const found = diffWords(before, after);
    expect(shown(before, found.old)).toEqual(["wood"]);
    expect(shown(after, found.new)).toEqual(["stone", ", tiles"]);
  });

  it("are none where the lines have little in common", () => {
    expect(diffWords("import os", "def roof(): ...")).toEqual({ old: [], new: [] });
  });

  it("are none where nothing changed, or where a line is too long to look at", () => {
    expect(diffWords("same", "same")).toEqual({ old: [], new: [] });
    expect(diffWords("a ".repeat(4000), "b ".repeat(4000))).toEqual({ old: [], new: [] });
    expect(diffWords("", "")).toEqual({ old: [], new: [] });
  });

  it("know letters of every script as words", () => {
    const after = "größe = 12";
    expect(shown(after, diffWords("größe = 11", after).new)).toEqual(["12"]);
  });
});
