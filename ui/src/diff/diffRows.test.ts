import { describe, expect, it } from "vitest";
import type { Comment } from "./commentDrafts";
import { buildRows, foldReason, type Row, type RowOptions } from "./diffRows";
import { showLines, splitText } from "./hiddenLines";
import { type FileChange, parseDiff } from "./parseDiff";

const TEXT = `diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,4 +1,3 @@
 one
-two
-three
+zwei
 four
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
`;
const files = parseDiff(TEXT);
const shown = (part: Partial<RowOptions> = {}): RowOptions => ({
  view: "unified",
  folded: new Map(),
  comments: [],
  writing: null,
  ...part,
});
const describeRow = (row: Row): string => {
  switch (row.kind) {
    case "file":
      return row.file.path;
    case "note":
    case "hunk":
      return row.text;
    case "line":
      return `${row.line.kind} ${row.line.text}${row.counterpart ? ` ~ ${row.counterpart.text}` : ""}`;
    case "pair":
      return `${row.left?.text ?? ""} | ${row.right?.text ?? ""}`;
    default:
      return row.kind;
  }
};

describe("the rows of a diff", () => {
  it("are git's lines in the unified view, with their counterparts", () => {
    expect(buildRows(files, shown()).map(describeRow)).toEqual([
      "a.py",
      "@@ -1,4 +1,3 @@",
      "same one",
      "removed two ~ zwei",
      "removed three",
      "added zwei ~ two",
      "same four",
      "logo.png",
      "Binary file not shown.",
    ]);
  });

  it("are pairs in the side-by-side view", () => {
    expect(
      buildRows(files, shown({ view: "split" }))
        .map(describeRow)
        .slice(2, 6),
    ).toEqual(["one | one", "two | zwei", "three | ", "four | four"]);
  });

  it("have keys that React tells apart, also between both views", () => {
    const rows = [
      ...buildRows(files, shown()).filter(({ kind }) => kind !== "hunk"),
      ...buildRows(files, shown({ view: "split" })).filter(({ kind }) => kind === "pair"),
    ];
    expect(new Set(rows.map(({ key }) => String(key))).size).toBe(rows.length);
  });

  it("are a reason if a file is folded", () => {
    const made = buildRows(files, shown({ folded: new Map([["a.py", "Lock file, collapsed by default."]]) }));
    expect(made.map(describeRow).slice(0, 3)).toEqual([
      "a.py",
      "Lock file, collapsed by default.",
      "logo.png",
    ]);
  });

  it("have comments and the form below their lines, in both views", () => {
    const comment: Comment = {
      id: 7,
      path: "a.py",
      side: "old",
      from: 2,
      to: 3,
      quote: [],
      more: 0,
      attempt: 1,
      text: "no",
    };
    const writing = { ...comment, side: "new" as const, from: 2, to: 2 };
    const order = (view: RowOptions["view"]) =>
      buildRows(files, shown({ view, comments: [comment], writing })).map(describeRow);
    expect(order("unified").slice(3, 8)).toEqual([
      "removed two ~ zwei",
      "removed three",
      "comment",
      "added zwei ~ two",
      "writing",
    ]);
    expect(order("split").slice(3, 7)).toEqual(["two | zwei", "writing", "three | ", "comment"]);
  });

  it("have keys that differ between the views", () => {
    const two = parseDiff(TEXT + TEXT.replaceAll("a.py", "b.py"));
    const keys = (view: RowOptions["view"], kind: Row["kind"]) =>
      buildRows(two, shown({ view })).flatMap((row) => (row.kind === kind ? [row.key] : []));
    const lines = [...keys("unified", "line"), ...keys("split", "pair")];
    expect(new Set(lines).size).toBe(lines.length);
    const all = buildRows(two, shown()).map(({ key }) => key);
    expect(new Set(all).size).toBe(all.length);
  });

  it("keep their identity and keys, whatever is folded or commented elsewhere", () => {
    const two = parseDiff(TEXT + TEXT.replaceAll("a.py", "b.py"));
    const lines = (part: Partial<RowOptions>) =>
      buildRows(two, shown(part)).filter(({ kind, file }) => kind === "line" && file.path === "b.py");
    const before = lines({});
    const writing = { path: "b.py", side: "new" as const, from: 1, to: 1, quote: [], more: 0, attempt: 1 };
    const after = lines({ folded: new Map([["a.py", "Collapsed."]]), writing });
    expect(before).toHaveLength(5);
    for (const [at, row] of after.entries()) expect(row).toBe(before[at]);
  });
});

describe("rows of a file of which hidden lines are shown", () => {
  const hunk = (at: number) => `@@ -${at},7 +${at},7 @@ part
 a
 b
 c
-before
+after
 d
 e
 f
`;
  const [file] = parseDiff(`diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n${hunk(60)}${hunk(100)}`) as [
    FileChange,
  ];
  const text = splitText(Array.from({ length: 120 }, (_, n) => `${n + 1}\n`).join(""));

  it("begin with the lines that can be shown", () => {
    const gaps = buildRows([file], shown()).flatMap((row) => (row.kind === "hunk" ? [row.gap] : []));
    expect(gaps.map((gap) => [gap?.from, gap?.to])).toEqual([
      [1, 59],
      [67, 99],
      [107, Number.POSITIVE_INFINITY],
    ]);
  });

  it.each(["unified", "split"] as const)(
    "keep their keys in the %s view, so that selections and focus stay",
    (view) => {
      const before = buildRows([file, ...files], shown({ view }));
      const more = showLines(file, text, [
        { from: 67, to: 86 },
        { from: 40, to: 59 },
        { from: 107, to: 120 },
      ]);
      const after = buildRows([more, ...files], shown({ view }));
      const keys = after.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      expect(before.filter(({ key }) => !keys.includes(key)).map(({ kind, key }) => [kind, key])).toEqual([
        ["hunk", "0."],
      ]);
      const other = (rows: readonly Row[]) =>
        rows.filter((row) => row.file !== file && row.file !== more && row.kind === "line");
      for (const [at, row] of other(after).entries()) expect(row).toBe(other(before)[at]);
    },
  );
});

describe("images", () => {
  const image = (name: string, more: string) =>
    buildRows(
      parseDiff(`diff --git a/${name} b/${name}\nindex 1111111..2222222 100644\n${more}`),
      shown(),
    ).map(({ kind }) => kind);
  const binary = "Binary files a/x and b/x differ\n";

  it("are shown in place of a note, and an SVG above its lines", () => {
    expect(image("a/house.PNG", binary)).toEqual(["file", "image"]);
    expect(image("house.svg", "@@ -1 +1 @@\n-<svg>\n+<svg >\n").slice(0, 3)).toEqual([
      "file",
      "image",
      "hunk",
    ]);
  });

  it("are not text with such a name, or other binary files", () => {
    expect(image("pointer.png", "@@ -1 +1 @@\n-a\n+b\n")).not.toContain("image");
    expect(image("house.bin", binary)).toEqual(["file", "note"]);
  });
});

describe("files that are folded at first", () => {
  const file = (path: string, plus = 1): FileChange => ({
    ...(files[0] as FileChange),
    path,
    plus,
    minus: 0,
  });

  it("have a reason", () => {
    expect(foldReason(file("ui/package-lock.json"))).toContain("Lock file");
    expect(foldReason(file("uv.lock"))).toContain("Lock file");
    expect(foldReason(file("web/app.min.js"))).toContain("Generated file");
    expect(foldReason(file("src/app.py", 2000))).toContain("2,000 changed lines");
  });

  it("are generated files, not written ones", () => {
    expect(foldReason(file("src/lock.py"))).toBeNull();
    expect(foldReason(file("docs/map.md"))).toBeNull();
  });
});
