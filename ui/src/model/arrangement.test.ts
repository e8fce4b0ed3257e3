import { describe, expect, it } from "vitest";
import { arrange, columnRows, EMPTY_ARRANGEMENT, reuseUnchanged } from "./arrangement";
import { sampleRun, sampleTask } from "./testData";

const all = () => true;

describe("arranging cards", () => {
  it("puts each task into its column, in the order of the sources", () => {
    const tasks = [
      sampleTask("b"),
      sampleTask("a"),
      sampleTask("r", { batch: sampleRun("r", { status: "running" }) }),
    ];
    expect(arrange(tasks, all, "none")).toEqual({ ...EMPTY_ARRANGEMENT, todo: ["b", "a"], running: ["r"] });
  });

  it("groups tasks by phase, with those without one at the end", () => {
    const tasks = [
      sampleTask("x"),
      sampleTask("a", { phase: "1" }),
      sampleTask("b", { phase: "2" }),
      sampleTask("c", { phase: "1" }),
    ];
    const { todo } = arrange(tasks, all, "phase");
    expect(todo).toEqual(["a", "c", "b", "x"]);
    const known = new Map(tasks.map((each) => [each.id, each]));
    expect(columnRows(todo, known, "phase")).toEqual([
      { heading: "1" },
      { id: "a" },
      { id: "c" },
      { heading: "2" },
      { id: "b" },
      { heading: "" },
      { id: "x" },
    ]);
  });

  it("keeps the identity of unchanged columns", () => {
    const before = arrange([sampleTask("a"), sampleTask("r", { batch: sampleRun("r") })], all, "none");
    const now = arrange(
      [sampleTask("a"), sampleTask("r", { batch: sampleRun("r", { status: "failed" }) })],
      all,
      "none",
    );
    const seen = reuseUnchanged(before, now);
    expect(seen.todo).toBe(before.todo);
    expect(seen.failed).toEqual(["r"]);
    expect(
      reuseUnchanged(
        before,
        arrange([sampleTask("a"), sampleTask("r", { batch: sampleRun("r") })], all, "none"),
      ),
    ).toBe(before);
  });
});
