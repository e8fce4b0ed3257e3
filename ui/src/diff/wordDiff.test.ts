import { describe, expect, it } from "vitest";
import { diffWords } from "./wordDiff";

const shown = (text: string, ranges: readonly (readonly [number, number])[]) =>
  ranges.map(([start, end]) => text.slice(start, end));

describe("word differences", () => {
  it("are marked on both sides", () => {
    const [before, after] = ["return roof(wood, 3)", "return roof(stone, 3, tiles)"];
    const found = diffWords(before, after);
    expect(shown(before, found.old)).toEqual(["wood"]);
    expect(shown(after, found.new)).toEqual(["stone", ", tiles"]);
  });

  it("are empty if the lines have little in common", () => {
    expect(diffWords("import os", "def roof(): ...")).toEqual({ old: [], new: [] });
  });

  it("are empty if nothing changed or a line is too long", () => {
    expect(diffWords("same", "same")).toEqual({ old: [], new: [] });
    expect(diffWords("a ".repeat(4000), "b ".repeat(4000))).toEqual({ old: [], new: [] });
    expect(diffWords("", "")).toEqual({ old: [], new: [] });
  });

  it("recognise words of every script", () => {
    const after = "größe = 12";
    expect(shown(after, diffWords("größe = 11", after).new)).toEqual(["12"]);
  });
});
