import { describe, expect, it } from "vitest";
import type { Comment } from "./commentDrafts";
import { buildRows, foldReason, type Row, type RowOptions } from "./diffRows";
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
