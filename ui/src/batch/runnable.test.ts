import { describe, expect, it } from "vitest";
import type { BatchHead, Run, Task } from "../api/types";
import { hindrance, whyNotAsk } from "./runnable";

function task(id: string, run: Partial<Run> | null = null, status: Task["status"] = "pending"): Task {
  const batch = run === null ? null : ({ batchId: "7f3a", taskId: id, status: "running", ...run } as Run);
  return { id, status, batch } as Task;
}

function heads(status: BatchHead["status"]): ReadonlyMap<string, BatchHead> {
  return new Map([["7f3a", { id: "7f3a", status } as BatchHead]]);
}

describe("tasks that are selected can be run", () => {
  it("unless an open batch has not finished with them; without those, it could be", () => {
    const found = hindrance([task("01"), task("02", {})], heads("running"));
    expect(found).toEqual({ why: "02 is in batch 7f3a, which is still open.", without: ["02"] });
  });

  it("again when their batch has ended, or they have", () => {
    expect(hindrance([task("01", { status: "queued" })], heads("cancelled"))).toBeNull();
    expect(hindrance([task("01", { status: "failed" })], heads("running"))).toBeNull();
  });

  it("unless all of them are complete; some may be", () => {
    const done = task("01", null, "completed");
    expect(hindrance([done], new Map())?.why).toBe("It is complete already.");
    expect(hindrance([done, task("02")], new Map())).toBeNull();
  });
});

describe("what can be asked of many", () => {
  it("needs one of them that it makes sense for", () => {
    const [idle, running, failed] = [task("01"), task("02", {}), task("03", { status: "failed" })];
    expect(whyNotAsk("cancel", [idle])).toBe("None of them is in a batch.");
    expect(whyNotAsk("cancel", [idle, running])).toBeNull();
    expect(whyNotAsk("cancel", [failed])).toBe("None of them is under way.");
    expect(whyNotAsk("retry", [running])).toBe("None of them has ended.");
    expect(whyNotAsk("retry", [running, failed])).toBeNull();
    expect(whyNotAsk("approve", [running])).toBe("None of them waits for approval.");
    expect(whyNotAsk("approve", [task("04", { status: "waiting", waiting: "approval" })])).toBeNull();
    expect(whyNotAsk("drop", [task("05", { status: "skipped" })])).toBe("All of them are dropped already.");
  });
});
