import { describe, expect, it } from "vitest";
import type { Explanation, TaskStatus, WaitReason } from "../api/types";
import { disabledReasons } from "./allowedActions";
import type { RunInfo } from "./selectedTask";

function sampleRunInfo(status: TaskStatus, waiting: WaitReason | null = null): RunInfo {
  return { status, waiting, attempt: 0 } as RunInfo;
}

const sampleExplanation = (more: Partial<Explanation>) =>
  ({ needs: [], contest: null, waiting: null, ...more }) as unknown as Explanation;

describe("actions on a task", () => {
  it("cancel is allowed until it has ended, retry afterwards", () => {
    for (const status of ["queued", "waiting", "running", "verifying", "merging", "interrupted"] as const) {
      expect(disabledReasons(sampleRunInfo(status), undefined, undefined).cancel).toBe(null);
      expect(disabledReasons(sampleRunInfo(status), undefined, undefined).retry).toMatch(/has not ended/);
    }
    for (const status of ["done", "failed", "timed_out", "conflicted", "cancelled"] as const) {
      expect(disabledReasons(sampleRunInfo(status), undefined, undefined).cancel).toMatch(/already/);
      expect(disabledReasons(sampleRunInfo(status), undefined, undefined).retry).toBe(null);
    }
    expect(disabledReasons(sampleRunInfo("timed_out"), undefined, undefined).cancel).toBe(
      "It is already timed out.",
    );
  });

  it("a blocked task names the task to retry instead", () => {
    const needs = [
      { id: "01-walls", status: "failed" },
      { id: "02-roof", status: "done" },
    ] as Explanation["needs"];
    const reasons = disabledReasons(sampleRunInfo("blocked"), sampleExplanation({ needs }), undefined);
    expect(reasons.retry).toBe("It is blocked: retry 01-walls instead.");
    expect(reasons.feedback).toBe(reasons.retry);
  });

  it("approve is allowed in a queue before the task has started", () => {
    const queue = (queueAutoApprove: boolean) => ({ mode: "queue", settings: { queueAutoApprove } }) as const;
    expect(disabledReasons(sampleRunInfo("waiting", "approval"), undefined, queue(false)).approve).toBe(null);
    expect(disabledReasons(sampleRunInfo("waiting", "turn"), undefined, queue(false)).approve).toBe(null);
    expect(disabledReasons(sampleRunInfo("waiting", "turn"), undefined, queue(true)).approve).toMatch(
      /not need approval/,
    );
    expect(disabledReasons(sampleRunInfo("running"), undefined, queue(false)).approve).toMatch(/not waiting/);
    const parallel = { ...queue(false), mode: "parallel" } as const;
    expect(disabledReasons(sampleRunInfo("waiting"), undefined, parallel).approve).toMatch(/Only queues/);
  });

  it("feedback isn't allowed while it is merged, nor for a contested task", () => {
    expect(disabledReasons(sampleRunInfo("merging"), undefined, undefined).feedback).toMatch(/being merged/);
    const contest = { why: null, entrants: [{ entrant: "01-walls@1" }] } as Explanation["contest"];
    expect(
      disabledReasons(sampleRunInfo("done"), sampleExplanation({ contest }), undefined).feedback,
    ).toMatch(/one of its entrants/);
    expect(disabledReasons(sampleRunInfo("running"), sampleExplanation({}), undefined).feedback).toBe(null);
  });
});
