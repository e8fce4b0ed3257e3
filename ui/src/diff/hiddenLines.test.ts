import { describe, expect, it } from "vitest";
import { expansions, findGaps, showLines, splitText } from "./hiddenLines";
import { type FileChange, parseDiff } from "./parseDiff";

// Lines 1 to 60; 10 becomes two, 50 is gone.
const before = Array.from({ length: 60 }, (_, n) => (n % 8 === 0 ? `def part_${n + 1}():` : `  ${n + 1}`));
const after = before.flatMap((line, n) => (n === 9 ? ["  ten", "  10b"] : n === 49 ? [] : [line]));
const DIFF = `diff --git a/a.py b/a.py
index 1111111..2222222 100644
--- a/a.py
+++ b/a.py
@@ -7,7 +7,8 @@ def part_1():
${before
  .slice(6, 9)
  .map((line) => ` ${line}`)
  .join("\n")}
-  10
+  ten
+  10b
${before
  .slice(10, 13)
  .map((line) => ` ${line}`)
  .join("\n")}
@@ -47,7 +48,6 @@ def part_41():
${before
  .slice(46, 49)
  .map((line) => ` ${line}`)
  .join("\n")}
-  50
${before
  .slice(50, 53)
  .map((line) => ` ${line}`)
  .join("\n")}
`;
const [file] = parseDiff(DIFF) as [FileChange];
const text = splitText(`${after.join("\n")}\n`);
const all = { from: 1, to: Number.POSITIVE_INFINITY };

describe("the hidden lines of a file", () => {
  it("are before, between and after its hunks", () => {
    expect(findGaps(file)).toEqual([
      { from: 1, to: 6, shift: 0 },
      { from: 15, to: 47, shift: -1 },
      { from: 54, to: Number.POSITIVE_INFINITY, shift: 0 },
    ]);
  });

  it("are none where git shows less than three lines around a change", () => {
    const [short] = parseDiff(
      "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n",
    );
    expect(findGaps(short as FileChange)).toEqual([null, null]);
    const [added] = parseDiff(
      "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+a\n",
    );
    expect(findGaps(added as FileChange)).toEqual([]);
  });

  it("are shown twenty at once, from both ends", () => {
    const [first, between, last] = findGaps(file).flatMap((gap) => (gap === null ? [] : [expansions(gap)]));
    expect(first).toEqual([{ direction: "all", from: 1, to: 6 }]);
    expect(between).toEqual([
      { direction: "down", from: 15, to: 34 },
      { direction: "up", from: 28, to: 47 },
    ]);
    expect(last).toEqual([{ direction: "down", from: 54, to: 73 }]);
  });
});

describe("a file with hidden lines shown", () => {
  it("has git's lines and those, with the numbers of both sides", () => {
    const shown = showLines(file, text, [
      { from: 15, to: 20 },
      { from: 45, to: 47 },
    ]);
    expect(shown.hunks.map(({ header }) => header)).toEqual([
      "@@ -7,13 +7,14 @@ def part_1():",
      "@@ -44,10 +45,9 @@ def part_41():",
    ]);
    const added = shown.hunks[0]?.lines.at(-1);
    expect([added?.kind, added?.old, added?.new, added?.text]).toEqual(["same", 19, 20, after[19]]);
    expect(findGaps(shown)).toEqual([
      { from: 1, to: 6, shift: 0 },
      { from: 21, to: 44, shift: -1 },
      { from: 54, to: 60, shift: 0 },
    ]);
  });

  it("is the whole file in one hunk without a header, if all is shown", () => {
    const shown = showLines(file, text, [all]);
    expect(shown.hunks.map(({ header }) => header)).toEqual([""]);
    const side = (name: "old" | "new") =>
      shown.hunks.flatMap(({ lines }) => lines.filter((line) => line[name] > 0).map((line) => line.text));
    expect(side("new")).toEqual(after);
    expect(side("old")).toEqual(before);
    expect(findGaps(shown)).toEqual([null, null]);
  });

  it("keeps hunks that nothing joins", () => {
    expect(showLines(file, text, [{ from: 54, to: 55 }]).hunks[0]).toBe(file.hunks[0]);
  });

  it("keeps the ends of lines, and that the last one has none", () => {
    const mixed = splitText(after.map((line, n) => (n === 0 ? `${line}\r` : line)).join("\n"));
    const lines = showLines(file, mixed, [all]).hunks[0]?.lines ?? [];
    expect(lines.at(0)).toMatchObject({ text: after[0], endsWithCr: true, noNewline: false });
    expect(lines.at(-1)).toMatchObject({ text: after.at(-1), endsWithCr: false, noNewline: true });
  });

  it("marks carriage returns only where the diff does", () => {
    const [crlf] = parseDiff(DIFF.replace(/^([ +-](?![+-]).*)$/gm, "$1\r"));
    const shown = showLines(crlf as FileChange, splitText(`${after.join("\r\n")}\r\n`), [all]);
    expect(shown.hunks.flatMap(({ lines }) => lines).filter(({ endsWithCr }) => endsWithCr)).toEqual([]);
  });
});
