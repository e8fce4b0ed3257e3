import { beforeAll, describe, expect, it } from "vitest";
import { highlightLines, languageOf, loadGrammar } from "./highlight";
import { parseDiff } from "./parseDiff";

beforeAll(() => loadGrammar("python"));

function rangesOf(...texts: string[]): string[][] {
  const [file] = parseDiff(
    ["diff --git a/a.py b/a.py", `@@ -0,0 +1,${texts.length} @@`, ...texts.map((text) => `+${text}`)].join(
      "\n",
    ),
  );
  const lines = file?.hunks[0]?.lines ?? [];
  const found = highlightLines("python", lines);
  return lines.map((line) =>
    (found.get(line) ?? []).map(({ start, end, syntax }) => `${syntax} ${line.text.slice(start, end)}`),
  );
}

describe("highlighting", () => {
  it("marks parts of a line", () => {
    expect(rangesOf('if a == "x":  # why')).toEqual([["keyword if", 'string "x"', "comment # why"]]);
  });

  it("continues on the next line", () => {
    expect(rangesOf('"""one', "two", '"""')).toEqual([['string """one'], ["string two"], ['string """']]);
  });

  it("leaves markup as text", () => {
    expect(rangesOf("'<b>' & 1")).toEqual([["string '<b>'", "number 1"]]);
  });

  it("leaves long blocks alone", () => {
    expect(rangesOf(`"${"x".repeat(50_000)}"`)).toEqual([[]]);
  });
});

describe("languages", () => {
  it("are known by a file's name", () => {
    expect(
      ["a/b.py", "Makefile", "docker/Dockerfile", "x.TSX", "notes", "a.unknown"].map(languageOf),
    ).toEqual(["python", "makefile", "dockerfile", "typescript", null, null]);
  });
});
