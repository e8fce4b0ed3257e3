import { describe, expect, it } from "vitest";
import type { BatchSummary, Run, Task } from "../api/types";
import { findRunBlocker, whyNotRun } from "./runnable";

function task(id: string, run: Partial<Run> | null = null, status: Task["status"] = "pending"): Task {
  const batch = run === null ? null : ({ batchId: "7f3a", taskId: id, status: "running", ...run } as Run);
  return { id, status, batch } as Task;
}

function batches(status: BatchSummary["status"]): ReadonlyMap<string, BatchSummary> {
  return new Map([["7f3a", { id: "7f3a", status } as BatchSummary]]);
}

describe("tasks that are selected can be run", () => {
  it("unless an open batch has not finished with them; without those, it could be", () => {
    const found = findRunBlocker([task("01"), task("02", {})], batches("running"));
    expect(found).toEqual({ reason: "02 is in batch 7f3a, which is still open.", without: ["02"] });
  });

  it("again when their batch has ended, or they have", () => {
    expect(findRunBlocker([task("01", { status: "queued" })], batches("cancelled"))).toBeNull();
    expect(findRunBlocker([task("01", { status: "failed" })], batches("running"))).toBeNull();
  });

  it("unless all of them are complete; some may be", () => {
    const done = task("01", null, "completed");
    expect(findRunBlocker([done], new Map())?.reason).toBe("It is complete already.");
    expect(findRunBlocker([done, task("02")], new Map())).toBeNull();
  });
});

describe("what can be asked of many", () => {
  it("needs one of them that it makes sense for", () => {
    const [idle, running, failed] = [task("01"), task("02", {}), task("03", { status: "failed" })];
    expect(whyNotRun("cancel", [idle])).toBe("None of them is in a batch.");
    expect(whyNotRun("cancel", [idle, running])).toBeNull();
    expect(whyNotRun("cancel", [failed])).toBe("None of them is under way.");
    expect(whyNotRun("retry", [running])).toBe("None of them has ended.");
    expect(whyNotRun("retry", [running, failed])).toBeNull();
    expect(whyNotRun("approve", [running])).toBe("None of them waits for approval.");
    expect(whyNotRun("approve", [task("04", { status: "waiting", waiting: "approval" })])).toBeNull();
    expect(whyNotRun("drop", [task("05", { status: "skipped" })])).toBe("All of them are dropped already.");
  });
});
