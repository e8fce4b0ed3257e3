import { describe, expect, it } from "vitest";
import type { BatchSummary, Progress, Run, Task } from "../api/types";
import { sampleProgress } from "../model/testData";
import {
  countRetryable,
  describeOutcome,
  describePause,
  formatBudget,
  formatCounts,
  formatNeedsYou,
  promptsByBatch,
  segments,
} from "./batchStatus";

const NONE = sampleProgress();

function task(id: string, run: Partial<Run>): [string, Task] {
  return [id, { id, batch: { batchId: "7f3a", taskId: id, waiting: null, needsYou: false, ...run } } as Task];
}

describe("what a batch needs from a person", () => {
  it("is the approval of the next task, by its id", () => {
    const tasks = new Map([
      task("01", { waiting: "turn" }),
      task("02", { waiting: "approval", needsYou: true }),
      task("03", { waiting: null }),
    ]);
    const asked = promptsByBatch(tasks).get("7f3a");
    expect(asked?.count).toBe(1);
    expect(asked?.approval?.taskId).toBe("02");
  });

  it("describes a pause with its reason, once", () => {
    const pauseText = (reason: string) => describePause({ status: "paused", reason });
    expect(pauseText("the budget is spent")).toBe("Paused: the budget is spent");
    expect(pauseText("paused by request")).toBe("Paused by request");
    expect(pauseText("stopped by request")).toBe("Stopped by request");
    expect(pauseText("")).toBe("Paused");
    expect(describePause({ status: "running", reason: "1 at work, 2 of 3 to go" })).toBeNull();
  });

  it("is computed once per state of the tasks, by batch", () => {
    const tasks = new Map([task("01", { waiting: "answer", needsYou: true }), task("02", { batchId: "b" })]);
    expect(promptsByBatch(tasks).has("b")).toBe(false);
    expect(promptsByBatch(tasks)).toBe(promptsByBatch(tasks));
  });

  it("has the right plural", () => {
    expect([formatNeedsYou(1), formatNeedsYou(2)]).toEqual(["1 needs you", "2 need you"]);
  });
});

describe("progress", () => {
  it("has a segment for each count that is not zero, and they sum to the total", () => {
    const progress = { ...NONE, total: 6, completed: 2, timedOut: 1, running: 1, queued: 1, waiting: 1 };
    expect(formatCounts(progress)).toBe("2 done, 1 timed out, 1 running, 1 queued, 1 waiting");
    expect(segments(progress).reduce((sum, { count }) => sum + count, 0)).toBe(6);
  });

  it("counts tasks that can be retried", () => {
    expect(countRetryable({ ...NONE, failed: 1, cancelled: 2, blocked: 4, completed: 8 })).toBe(3);
  });

  it("ends in an outcome", () => {
    const text = (
      status: BatchSummary["status"],
      progress: Partial<Progress>,
      shipped: string | null = null,
    ) => describeOutcome({ status, shipped, progress: { ...NONE, ...progress } });
    expect(text("completed", { total: 3, completed: 3 })).toEqual({ text: "3 tasks merged", tone: "done" });
    expect(text("completed", { total: 3, completed: 3 }, "c0ffee")).toEqual({
      text: "3 tasks shipped",
      tone: "done",
    });
    expect(text("partial", { total: 28, completed: 23 })).toEqual({
      text: "28 tasks · 23 merged, 5 not",
      tone: "partial",
    });
    expect(text("failed", { total: 1 })).toEqual({ text: "1 task · none merged", tone: "failed" });
    expect(text("cancelled", { total: 3, completed: 1 })).toEqual({ text: "cancelled", tone: "stopped" });
  });
});

it("writes a budget as the settings do", () => {
  expect(formatBudget({ usd: 0.5, tokens: null })).toBe("0.5usd");
  expect(formatBudget({ usd: 20, tokens: 500_000 })).toBe("20usd 500ktok");
  expect(formatBudget({ usd: null, tokens: 1234 })).toBe("1234tok");
});
