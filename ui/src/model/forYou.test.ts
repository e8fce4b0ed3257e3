import { describe, expect, it } from "vitest";
import type { BatchSummary, Run, Task } from "../api/types";
import { findForYou, formatResults } from "./forYou";
import { sampleBatch, sampleProgress, sampleRun, sampleTask } from "./testData";

function find(
  runs: readonly Partial<Run>[],
  batch: Partial<BatchSummary> = {},
  dismissed: readonly string[] = [],
) {
  const tasks = new Map<string, Task>(
    runs.map((run, n) => [`t${n}`, sampleTask(`t${n}`, { batch: sampleRun(`t${n}`, run) })]),
  );
  const batches = new Map([["7f3a", sampleBatch("7f3a", batch)]]);
  return findForYou({ tasks, batches, limits: [] }, new Set(dismissed));
}

const kinds = (...of: Parameters<typeof find>) => find(...of).map(({ kind }) => kind);
const ENDED = { status: "partial", completedAt: "2026-11-15T11:00:00.000Z" } as const;

describe("what needs the user", () => {
  it("is nothing while tasks run or wait for each other", () => {
    expect(
      kinds([{ status: "running" }, { status: "waiting", waiting: "needs" }, { status: "failed" }]),
    ).toEqual([]);
    expect(
      kinds([{ status: "waiting", waiting: "pause" }], { status: "paused", pauseCause: "person" }),
    ).toEqual([]);
  });

  it("begins with what holds up work", () => {
    const found = kinds(
      [
        { status: "conflicted" },
        { status: "waiting", waiting: "approval", needsYou: true },
        { status: "running", waiting: "answer", needsYou: true },
      ],
      { status: "paused", pauseCause: "budget", reason: "$20.00 of $20.00 is spent" },
    );
    expect(found).toEqual(["question", "approval", "paused", "conflict"]);
  });

  it("has a finished batch until it is published, dismissed, or its tasks have run again", () => {
    const merged = { status: "done", review: true } as const;
    expect(kinds([merged, { status: "failed" }], ENDED)).toEqual(["review"]);
    expect(kinds([{ status: "failed" }], { ...ENDED, status: "failed" })).toEqual(["review"]);
    expect(kinds([{ ...merged, review: false, shipped: true }], ENDED)).toEqual([]);
    expect(kinds([{ ...merged, batchId: "newer" }], ENDED)).toEqual([]);
    expect(kinds([merged], { ...ENDED, status: "cancelled" })).toEqual([]);
    const [item] = find([merged], ENDED);
    expect(kinds([merged], ENDED, [item?.key ?? ""])).toEqual([]);
    expect(kinds([merged], { ...ENDED, completedAt: "later" }, [item?.key ?? ""])).toEqual(["review"]);
  });

  it("has a question again if it is another one", () => {
    const asking = (reason: string) => [{ status: "waiting", waiting: "answer", reason } as const];
    const [item] = find(asking("Which port?"));
    expect(kinds(asking("Which port?"), {}, [item?.key ?? ""])).toEqual([]);
    expect(kinds(asking("Which host?"), {}, [item?.key ?? ""])).toEqual(["question"]);
  });

  it("has a provider that refuses", () => {
    const limit = {
      provider: "anthropic",
      until: "2026-11-15T15:00:00.000Z",
      reason: "limit reached",
      rejected: false,
    };
    expect(findForYou({ tasks: new Map(), batches: new Map(), limits: [limit] }, new Set())).toEqual([
      { kind: "provider", key: "provider anthropic 2026-11-15T15:00:00.000Z", limit },
    ]);
  });

  it("says what became of a batch", () => {
    const progress = sampleProgress({ completed: 23, failed: 3, timedOut: 1, blocked: 1 });
    expect(formatResults(sampleBatch("7f3a", { progress }))).toBe("23 merged, 4 failed, 1 blocked");
  });
});
