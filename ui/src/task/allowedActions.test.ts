import { describe, expect, it } from "vitest";
import type { Explanation, TaskStatus, WaitReason } from "../api/types";
import { disabledReasons } from "./allowedActions";
import type { RunInfo } from "./selectedTask";

function known(status: TaskStatus, waiting: WaitReason | null = null): RunInfo {
  return { status, waiting, attempt: 0 } as RunInfo;
}

const explained = (more: Partial<Explanation>) =>
  ({ needs: [], contest: null, waiting: null, ...more }) as unknown as Explanation;

describe("what can be asked of a task", () => {
  it("can be cancelled until it has ended, and tried again from then on", () => {
    for (const status of ["queued", "waiting", "running", "verifying", "merging", "interrupted"] as const) {
      expect(disabledReasons(known(status), undefined, undefined).cancel).toBe(null);
      expect(disabledReasons(known(status), undefined, undefined).retry).toMatch(/has not ended/);
    }
    for (const status of ["done", "failed", "timed_out", "conflicted", "cancelled"] as const) {
      expect(disabledReasons(known(status), undefined, undefined).cancel).toMatch(/already/);
      expect(disabledReasons(known(status), undefined, undefined).retry).toBe(null);
    }
    expect(disabledReasons(known("timed_out"), undefined, undefined).cancel).toBe("It is already timed out.");
  });

  it("names what is to be tried again instead of what is blocked", () => {
    const needs = [
      { id: "01-walls", status: "failed" },
      { id: "02-roof", status: "done" },
    ] as Explanation["needs"];
    const told = disabledReasons(known("blocked"), explained({ needs }), undefined);
    expect(told.retry).toBe("It is blocked: retry 01-walls instead.");
    expect(told.feedback).toBe(told.retry);
  });

  it("is approved in a queue that asks, before it has begun", () => {
    const queue = (queueAutoApprove: boolean) => ({ mode: "queue", settings: { queueAutoApprove } }) as const;
    expect(disabledReasons(known("waiting", "approval"), undefined, queue(false)).approve).toBe(null);
    expect(disabledReasons(known("waiting", "turn"), undefined, queue(false)).approve).toBe(null);
    expect(disabledReasons(known("waiting", "turn"), undefined, queue(true)).approve).toMatch(
      /not need approval/,
    );
    expect(disabledReasons(known("running"), undefined, queue(false)).approve).toMatch(/not waiting/);
    const parallel = { ...queue(false), mode: "parallel" } as const;
    expect(disabledReasons(known("waiting"), undefined, parallel).approve).toMatch(/Only queues/);
  });

  it("is told nothing while it is merged, nor what others write", () => {
    expect(disabledReasons(known("merging"), undefined, undefined).feedback).toMatch(/being merged/);
    const contest = { why: null, entrants: [{ entrant: "01-walls@1" }] } as Explanation["contest"];
    expect(disabledReasons(known("done"), explained({ contest }), undefined).feedback).toMatch(
      /one of its entrants/,
    );
    expect(disabledReasons(known("running"), explained({}), undefined).feedback).toBe(null);
  });
});
