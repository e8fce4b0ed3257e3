import { expect, it } from "vitest";
import type { ConflictFile, TaskConflict } from "./resolution";
import { editedText, fittingChoices, keepChoice, type ResolutionDraft } from "./resolutionDraft";

const file = (path: string, merged: string) =>
  ({ path, merged, ours: "", theirs: "" }) as unknown as ConflictFile;
const conflict = (...files: ConflictFile[]) => ({ files }) as unknown as TaskConflict;
const NONE: ResolutionDraft = {};

it("counts for files that look the same when the branch has moved on", () => {
  let draft = keepChoice(NONE, file("a", "1"), { kind: "task" });
  draft = keepChoice(draft, file("b", "1"), { kind: "edit", text: "both" });
  draft = keepChoice(draft, file("gone", "1"), { kind: "task" });
  const [a, b] = [file("a", "1"), file("b", "1")];
  expect([...fittingChoices(draft, conflict(a, b))]).toEqual([
    ["a", { kind: "task" }],
    ["b", { kind: "edit", text: "both" }],
  ]);
  expect([...fittingChoices(draft, conflict(a, file("b", "2"))).keys()]).toEqual(["a"]);
});

it("has the newest choice for each file, whatever its name", () => {
  const odd = file("__proto__", "1");
  let draft = keepChoice(NONE, odd, { kind: "task" });
  draft = keepChoice(draft, odd, { kind: "batch" });
  expect([...fittingChoices(draft, conflict(odd, file("constructor", "1")))]).toEqual([
    ["__proto__", { kind: "batch" }],
  ]);
});

it("keeps what was edited while a side is chosen", () => {
  const edited = keepChoice(NONE, file("a", "1"), { kind: "edit", text: "both" });
  const draft = keepChoice(edited, file("a", "1"), { kind: "batch" });
  expect(editedText(draft, file("a", "1"))).toBe("both");
  expect(editedText(draft, file("a", "2"))).toBeUndefined();
  expect(editedText(NONE, file("a", "1"))).toBeUndefined();
});
