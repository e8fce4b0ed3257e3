import { describe, expect, it } from "vitest";
import { ApiError, UnreachableError } from "../api/client";
import type { BatchSummary, Plan, Problem, Run, Task } from "../api/types";
import {
  countTasks,
  findRunBlocker,
  hasMissingNeeds,
  problemHint,
  sortBySeverity,
  whyNotRun,
  whyNotStart,
} from "./runChecks";

function task(id: string, run: Partial<Run> | null = null, status: Task["status"] = "pending"): Task {
  const batch = run === null ? null : ({ batchId: "7f3a", taskId: id, status: "running", ...run } as Run);
  return { id, status, batch } as Task;
}

function batches(status: BatchSummary["status"]): ReadonlyMap<string, BatchSummary> {
  return new Map([["7f3a", { id: "7f3a", status } as BatchSummary]]);
}

describe("selected tasks can be run", () => {
  it("unless an open batch has them; without those it is possible", () => {
    const found = findRunBlocker([task("01"), task("02", {})], batches("running"));
    expect(found).toEqual({ reason: "02 is in batch 7f3a, which is still open.", without: ["02"] });
  });

  it("again when they or their batch have ended", () => {
    expect(findRunBlocker([task("01", { status: "queued" })], batches("cancelled"))).toBeNull();
    expect(findRunBlocker([task("01", { status: "failed" })], batches("running"))).toBeNull();
  });

  it("unless all of them are complete", () => {
    const done = task("01", null, "completed");
    expect(findRunBlocker([done], new Map())?.reason).toBe("This task is already complete.");
    expect(findRunBlocker([done, task("02")], new Map())).toBeNull();
  });
});

describe("bulk actions", () => {
  it("need at least one task that they apply to", () => {
    const [idle, running, failed] = [task("01"), task("02", {}), task("03", { status: "failed" })];
    expect(whyNotRun("cancel", [idle])).toBe("None of these tasks is in a batch.");
    expect(whyNotRun("cancel", [idle, running])).toBeNull();
    expect(whyNotRun("cancel", [failed])).toBe("None of these tasks is active.");
    expect(whyNotRun("retry", [running])).toBe("None of these tasks has ended.");
    expect(whyNotRun("retry", [running, failed])).toBeNull();
    expect(whyNotRun("approve", [running])).toBe("None of these tasks is waiting for approval.");
    expect(whyNotRun("approve", [task("04", { status: "waiting", waiting: "approval" })])).toBeNull();
    expect(whyNotRun("drop", [task("05", { status: "skipped" })])).toBe(
      "All of these tasks are already dropped.",
    );
  });
});

const NOTED: Problem = { severity: "info", message: "noted", file: null, line: null, hint: null };
const WRONG: Problem = {
  ...NOTED,
  severity: "error",
  message: "02 needs 01, which is neither finished nor selected",
  hint: "`withNeeds` pulls it in, `ignoreNeeds` goes without it.",
};

function plan(problems: Problem[], ids = ["01"]): Plan {
  return { tasks: ids.map((id) => ({ id, entrantOf: null })), problems } as Plan;
}

const PREVIEW = { plan: plan([NOTED]), error: null, stale: false };

describe("a batch can be started", () => {
  it("when its plan is loaded and up to date", () => {
    expect(whyNotStart(PREVIEW)).toBeNull();
    expect(whyNotStart({ ...PREVIEW, stale: true })).toBe("Still planning.");
    expect(whyNotStart({ ...PREVIEW, plan: undefined })).toBe("Still planning.");
  });

  it("unless the plan has an error, which is the reason", () => {
    expect(whyNotStart({ ...PREVIEW, plan: plan([NOTED, WRONG]) })).toBe(`${WRONG.message}.`);
  });

  it("unless the preview failed", () => {
    const refused = new ApiError(422, { error: "budget must be an amount" });
    expect(whyNotStart({ ...PREVIEW, error: refused })).toBe("budget must be an amount.");
    expect(whyNotStart({ ...PREVIEW, error: new UnreachableError() })).toBe("Planning failed.");
  });

  it("unless nothing is left to do", () => {
    expect(whyNotStart({ ...PREVIEW, plan: plan([NOTED], []) })).toMatch(/Nothing to do/);
  });
});

describe("problems", () => {
  it("are sorted by severity, and have no hint if the page has a button for it", () => {
    expect(sortBySeverity([NOTED, WRONG])).toEqual([WRONG, NOTED]);
    expect(problemHint(WRONG)).toBeNull();
    expect(problemHint({ ...NOTED, hint: "Mend it." })).toBe("Mend it.");
    expect(hasMissingNeeds(plan([WRONG]))).toBe(true);
    expect(hasMissingNeeds(plan([NOTED]))).toBe(false);
  });

  it("entrants of a contest are not counted as tasks", () => {
    const tries = plan([]).tasks.concat([{ id: "01@a", entrantOf: "01" } as Plan["tasks"][number]]);
    expect(countTasks({ ...plan([]), tasks: tries })).toBe(1);
  });
});
