import { describe, expect, it } from "vitest";
import { findMarker, findMissing, restoreLineEnds, type TaskConflict, toRequestFiles } from "./resolution";

function conflict(...files: { path: string; merged?: string }[]): TaskConflict {
  return {
    batchId: "b",
    taskId: "t",
    with: "head",
    base: "base",
    tip: "tip",
    more: 0,
    files: files.map(({ path, merged = "" }) => ({
      path,
      kind: "content",
      said: "",
      binary: false,
      base: "",
      ours: "",
      theirs: "",
      merged,
      cut: [],
      touchedBy: [],
      sides: true,
      editable: true,
    })),
  };
}

describe("an edited text", () => {
  it.each([
    ["a\r\nb\r\n", "a\nnew\nb\n", "a\r\nnew\r\nb\r\n"],
    ["a\nb\n", "a\nnew\n", "a\nnew\n"],
    ["a\r\nb\r\nc\n", "c\nnew\na\nlast", "c\nnew\r\na\r\nlast"],
  ])("keeps the line ends of %j", (original, edited, expected) => {
    expect(restoreLineEnds(original, edited)).toBe(expected);
  });

  it("has a marker in the line that is named", () => {
    expect(findMarker("a\n<<<<<<< already merged\n")).toBe(2);
    expect(findMarker("a\r\n>>>>>>>\r\n")).toBe(2);
    expect(findMarker("title\n=======\n<<<<<<<<\n")).toBeNull();
  });
});

it("names the files that are not resolved, and those with markers", () => {
  const choices = new Map([
    ["a", { kind: "batch" as const }],
    ["b", { kind: "edit" as const, text: "x\n>>>>>>> this task\n" }],
  ]);
  expect(findMissing(conflict({ path: "a" }, { path: "b" }, { path: "c" }), choices)).toEqual({
    open: ["c"],
    marked: [{ path: "b", line: 2 }],
  });
});

it("sends a side or the text", () => {
  const found = conflict({ path: "a" }, { path: "b", merged: "1\r\n" });
  const choices = new Map([
    ["a", { kind: "task" as const }],
    ["b", { kind: "edit" as const, text: "2\n" }],
  ]);
  expect(toRequestFiles(found, choices)).toEqual([
    { path: "a", side: "task" },
    { path: "b", text: "2\r\n" },
  ]);
});
