import { describe, expect, it } from "vitest";
import { groupByFolder } from "./FileList";
import { findMatches, findRanges } from "./lineMatches";
import { listFiles, parseDiff } from "./parseDiff";

const TEXT = `diff --git a/README b/README
--- a/README
+++ b/README
@@ -1 +1,2 @@
 A house.
+With a Roof.
diff --git a/src/roof.py b/src/roof.py
--- a/src/roof.py
+++ b/src/roof.py
@@ -1 +1 @@
-roof = 1
+roof = 2
`;

describe("search", () => {
  it("finds lines in order, ignoring case", () => {
    expect(findMatches(parseDiff(TEXT), "ROOF").map(({ file, line }) => [file.path, line.text])).toEqual([
      ["README", "With a Roof."],
      ["src/roof.py", "roof = 1"],
      ["src/roof.py", "roof = 2"],
    ]);
    expect(findMatches(parseDiff(TEXT), "")).toEqual([]);
  });

  it("returns positions within a line", () => {
    expect(findRanges("a roof, a ROOF", "roof")).toEqual([
      [2, 6],
      [10, 14],
    ]);
    expect(findRanges("aaa", "aa")).toEqual([[0, 2]]);
    expect(findRanges("aaa", "")).toEqual([]);
  });
});

describe("the list of files", () => {
  it("names a folder before its first file", () => {
    expect(groupByFolder(parseDiff(TEXT)).map(({ kind, name }) => [kind, name])).toEqual([
      ["file", "README"],
      ["folder", "src"],
      ["file", "roof.py"],
    ]);
  });

  it("includes files without text, with a note", () => {
    const files = listFiles(
      {
        files: [
          { path: "README", before: null, plus: 1, minus: 0, binary: false, tasks: [] },
          { path: "later.py", before: null, plus: 9, minus: 8, binary: false, tasks: [] },
        ],
      },
      TEXT,
    );
    expect(files.map(({ path, plus, note }) => [path, plus, note])).toEqual([
      ["README", 1, null],
      ["later.py", 9, "Not loaded: the diff was truncated before this file."],
      ["src/roof.py", 1, null],
    ]);
  });
});
