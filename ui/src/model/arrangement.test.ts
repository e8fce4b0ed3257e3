import { describe, expect, it } from "vitest";
import { arrange, EMPTY, rowsOf, shared } from "./arrangement";
import { run, task } from "./samples";

const all = () => true;

describe("an arrangement", () => {
  it("has each task in its column, in the order of the sources", () => {
    const tasks = [task("b"), task("a"), task("r", { batch: run("r", { status: "running" }) })];
    expect(arrange(tasks, all, "none")).toEqual({ ...EMPTY, todo: ["b", "a"], running: ["r"] });
  });

  it("keeps together what is in one phase, and has what is in none at the end", () => {
    const tasks = [
      task("x"),
      task("a", { phase: "1" }),
      task("b", { phase: "2" }),
      task("c", { phase: "1" }),
    ];
    const { todo } = arrange(tasks, all, "phase");
    expect(todo).toEqual(["a", "c", "b", "x"]);
    const known = new Map(tasks.map((each) => [each.id, each]));
    expect(rowsOf(todo, known, "phase")).toEqual([
      { heading: "1" },
      { id: "a" },
      { id: "c" },
      { heading: "2" },
      { id: "b" },
      { heading: "" },
      { id: "x" },
    ]);
  });

  it("leaves columns that did not change what they were", () => {
    const before = arrange([task("a"), task("r", { batch: run("r") })], all, "none");
    const now = arrange([task("a"), task("r", { batch: run("r", { status: "failed" }) })], all, "none");
    const seen = shared(before, now);
    expect(seen.todo).toBe(before.todo);
    expect(seen.failed).toEqual(["r"]);
    expect(shared(before, arrange([task("a"), task("r", { batch: run("r") })], all, "none"))).toBe(before);
  });
});
