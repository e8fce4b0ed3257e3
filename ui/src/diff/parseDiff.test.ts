import { describe, expect, it } from "vitest";
import { parseDiff } from "./parseDiff";

const diff = (...lines: string[]) => `${lines.join("\n")}\n`;
const one = (...lines: string[]) => {
  const [file] = parseDiff(diff(...lines));
  if (file === undefined) throw new Error("no file");
  return file;
};

describe("a git diff", () => {
  it("has both line numbers", () => {
    const file = one(
      "diff --git a/a.py b/a.py",
      "index 1..2 100644",
      "--- a/a.py",
      "+++ b/a.py",
      "@@ -3,3 +3,4 @@ def roof():",
      " one",
      "-two",
      "+zwei",
      "+drei",
      " four",
    );
    expect(file).toMatchObject({ path: "a.py", before: null, status: "modified", plus: 2, minus: 1 });
    expect(file.hunks[0]?.header).toBe("@@ -3,3 +3,4 @@ def roof():");
    expect(file.hunks[0]?.lines.map(({ kind, old, new: next, text }) => [kind, old, next, text])).toEqual([
      ["same", 3, 3, "one"],
      ["removed", 4, 0, "two"],
      ["added", 0, 4, "zwei"],
      ["added", 0, 5, "drei"],
      ["same", 5, 6, "four"],
    ]);
  });

  it("is read by counts: lines that look like headers are lines", () => {
    const file = one(
      "diff --git a/x.sql b/x.sql",
      "--- a/x.sql",
      "+++ b/x.sql",
      "@@ -1,2 +1,2 @@",
      "--- a/x.sql",
      "-diff --git a/evil b/evil",
      "+++ b/evil",
      "+@@ -1 +1 @@",
    );
    expect(file.path).toBe("x.sql");
    expect(file.hunks[0]?.lines.map(({ text }) => text)).toEqual([
      "-- a/x.sql",
      "diff --git a/evil b/evil",
      "++ b/evil",
      "@@ -1 +1 @@",
    ]);
  });

  it("has new, deleted, renamed and copied files", () => {
    const files = parseDiff(
      diff(
        "diff --git a/new.txt b/new.txt",
        "new file mode 100644",
        "index 0..1",
        "--- /dev/null",
        "+++ b/new.txt",
        "@@ -0,0 +1 @@",
        "+x",
        "diff --git a/old.txt b/old.txt",
        "deleted file mode 100644",
        "--- a/old.txt",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-x",
        "diff --git a/a b/c.txt b/a b/d.txt",
        "similarity index 90%",
        "rename from a b/c.txt",
        "rename to a b/d.txt",
        "diff --git a/p b/q",
        "similarity index 100%",
        "copy from p",
        "copy to q",
      ),
    );
    expect(files.map(({ path, before, status }) => [path, before, status])).toEqual([
      ["new.txt", null, "added"],
      ["old.txt", null, "deleted"],
      ["a b/d.txt", "a b/c.txt", "renamed"],
      ["q", "p", "copied"],
    ]);
  });

  it("has mode changes", () => {
    const file = one("diff --git a/run me b/run me", "old mode 100644", "new mode 100755");
    expect(file).toMatchObject({ path: "run me", mode: "100644 → 100755", hunks: [], status: "modified" });
  });

  it("has empty and binary files", () => {
    const files = parseDiff(
      diff(
        "diff --git a/empty b/empty",
        "new file mode 100644",
        "index 0000000..e69de29",
        "diff --git a/logo.png b/logo.png",
        "index 1..2 100644",
        "Binary files a/logo.png and b/logo.png differ",
      ),
    );
    expect(files.map(({ path, binary, hunks }) => [path, binary, hunks.length])).toEqual([
      ["empty", false, 0],
      ["logo.png", true, 0],
    ]);
  });

  it("marks a missing newline at the end", () => {
    const file = one(
      "diff --git a/a b/a",
      "--- a/a",
      "+++ b/a",
      "@@ -1 +1 @@",
      "-x",
      "\\ No newline at end of file",
      "+y",
      "\\ No newline at end of file",
    );
    expect(file.hunks[0]?.lines.map(({ text, noNewline }) => [text, noNewline])).toEqual([
      ["x", true],
      ["y", true],
    ]);
    expect(file.note).toBeNull();
  });

  it("decodes quoted names by bytes", () => {
    const quoted = '"b/na\\303\\257ve \\"x\\"\\t\\\\.txt"';
    const name = 'naïve "x"\t\\.txt';
    expect(
      one(`diff --git ${quoted.replace("b/", "a/")} ${quoted}`, "old mode 100644", "new mode 100755").path,
    ).toBe(name);
    expect(
      one(`diff --git a/plain ${quoted}`, "rename from plain", `rename to ${quoted.replace("b/", "")}`),
    ).toMatchObject({ path: name, before: "plain" });
    expect(
      one(
        "diff --git a/with space b/with space",
        "--- a/with space\t",
        "+++ b/with space\t",
        "@@ -1 +1 @@",
        "-a",
        "+b",
      ).path,
    ).toBe("with space");
  });

  it("keeps carriage returns apart from the text", () => {
    const file = one("diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1,2 +1,2 @@", "-x\r", "+x", " y\r");
    expect(file.hunks[0]?.lines.map(({ text, endsWithCr }) => [text, endsWithCr])).toEqual([
      ["x", true],
      ["x", false],
      ["y", true],
    ]);
  });

  it("marks no carriage return where all lines end with one", () => {
    const file = one("diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1,2 +1,2 @@", "-x\r", "+z\r", " y\r");
    expect(file.hunks[0]?.lines.map(({ text, endsWithCr }) => [text, endsWithCr])).toEqual([
      ["x", false],
      ["z", false],
      ["y", false],
    ]);
  });

  it("shows a combined diff unchanged, with a note", () => {
    const file = one(
      "diff --cc src/a.py",
      "index 1,2..3",
      "--- a/src/a.py",
      "+++ b/src/a.py",
      "@@@ -1,2 -1,2 +1,3 @@@",
      "  same",
      "- ours",
      " -theirs",
      "++both",
    );
    expect(file.path).toBe("src/a.py");
    expect(file.note).toContain("Combined diff");
    expect(file.hunks[0]?.lines.map(({ kind }) => kind)).toEqual(["same", "removed", "removed", "added"]);
  });

  it("notes where the text was cut", () => {
    const file = one("diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1,3 +1,3 @@", " x", "-y");
    expect(file.hunks[0]?.lines).toHaveLength(2);
    expect(file.note).toContain("Truncated");
  });

  it("is empty for empty input, and parsing always ends", () => {
    expect(parseDiff("")).toEqual([]);
    expect(parseDiff("hello\nthere")).toEqual([]);
    expect(parseDiff("@@ -1 +1 @@\n-x\n+y")).toEqual([]);
    const odd = parseDiff('diff --git "a/\\777 b/x\n@@ nonsense @@\n@@ -1 +1 @@\nwhat\n\u202e<script>');
    expect(odd).toHaveLength(1);
  });

  it("accepts context lines without their leading space", () => {
    const file = one("diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1,3 +1,3 @@", " x", "", "-y", "+z");
    expect(file.hunks[0]?.lines.map(({ kind }) => kind)).toEqual(["same", "same", "removed", "added"]);
  });

  it("reads 50,000 lines in linear time", () => {
    const body = Array.from({ length: 50_000 }, (_, n) => `+line ${n}`);
    const file = one("diff --git a/a b/a", "--- /dev/null", "+++ b/a", "@@ -0,0 +1,50000 @@", ...body);
    expect(file.plus).toBe(50_000);
    expect(file.hunks[0]?.lines.at(-1)).toMatchObject({ new: 50_000, text: "line 49999" });
  });
});
