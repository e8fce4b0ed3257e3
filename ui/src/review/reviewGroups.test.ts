import { describe, expect, it } from "vitest";
import type { BatchTask, Timeline } from "../api/types";
import {
  describeTotals,
  gateStatus,
  groupTasks,
  isRebuilding,
  isVerified,
  listGates,
  suggestReading,
} from "./reviewGroups";

const task = (taskId: string, part: Partial<BatchTask> = {}): BatchTask =>
  ({
    taskId,
    status: "done",
    commit: "c",
    attempt: 1,
    diffstat: null,
    entrantOf: null,
    completedAt: null,
    cost: { usd: 0, tokens: 0 },
    ...part,
  }) as BatchTask;
type Span = Timeline["spans"][number];
const span = (kind: Span["kind"], result: string | null, completedAt: string | null): Span => ({
  kind,
  result,
  completedAt,
  startedAt: "2026-01-01T00:00:00.000Z",
  n: 1,
  agent: null,
  detail: null,
  endedFor: null,
});
const timeline = (tasks: Record<string, Span[]>, spans: Span[] = []): Timeline => ({
  batchId: "b",
  startedAt: null,
  completedAt: null,
  spans,
  tasks: Object.entries(tasks).map(([taskId, each]) => ({
    taskId,
    title: "",
    status: null,
    spans: each,
    waits: [],
    retries: [],
  })),
});
const ids = (tasks: readonly BatchTask[]) => tasks.map(({ taskId }) => taskId);

describe("the review of a batch", () => {
  it("lists merged tasks in the order of their last merge", () => {
    const sample = timeline({
      a: [span("merge", "merged", "2026-01-01T00:00:01Z"), span("merge", "merged", "2026-01-01T00:00:09Z")],
      b: [
        span("merge", "conflicted", "2026-01-01T00:00:02Z"),
        span("merge", "merged", "2026-01-01T00:00:05Z"),
      ],
      c: [span("merge", "merged", "2026-01-01T00:00:03Z")],
    });
    expect(ids(groupTasks({ tasks: [task("a"), task("b"), task("c")] }, sample).merged)).toEqual([
      "c",
      "b",
      "a",
    ]);
  });

  it("uses the ends of tasks if there is no timeline", () => {
    const tasks = [task("a", { completedAt: "2" }), task("b", { completedAt: "1" })];
    expect(ids(groupTasks({ tasks }, undefined).merged)).toEqual(["b", "a"]);
  });

  it("separates conflicts, other ended tasks and pending ones, without entrants", () => {
    const found = groupTasks(
      {
        tasks: [
          task("in"),
          task("clash", { commit: null, status: "conflicted" }),
          task("bad", { commit: null, status: "failed" }),
          task("at-work", { commit: null, status: "running" }),
          task("try", { commit: null, entrantOf: "in" }),
        ],
      },
      undefined,
    );
    expect(ids(found.merged)).toEqual(["in"]);
    expect(ids(found.conflicted)).toEqual(["clash"]);
    expect(ids(found.unmerged)).toEqual(["bad"]);
    expect(ids(found.pending)).toEqual(["at-work"]);
  });
});

describe("the checks of a batch", () => {
  it("use the last verification", () => {
    const [bad] = timeline({ a: [span("verify", "ok", "1"), span("verify", "verify", "2")] }).tasks;
    const [good] = timeline({ a: [span("verify", "verify", "1"), span("verify", "ok", "2")] }).tasks;
    const [none] = timeline({ a: [span("write", "ok", "1")] }).tasks;
    expect([isVerified(bad), isVerified(good), isVerified(none), isVerified(undefined)]).toEqual([
      false,
      true,
      null,
      null,
    ]);
  });

  it("use the last gate", () => {
    const settings = { gate: "make test" } as Parameters<typeof gateStatus>[0]["settings"];
    const state = (...spans: Span[]) => gateStatus({ settings }, timeline({}, spans)).state;
    expect(state()).toBe("never");
    expect(state(span("gate", null, null))).toBe("running");
    expect(state(span("gate", "failed", "1"), span("gate", "passed", "2"))).toBe("passed");
    expect(state(span("gate", "passed", "1"), span("gate", "failed", "2"))).toBe("failed");
    expect(gateStatus({ settings: { ...settings, gate: null } }, undefined).state).toBe("none");
  });

  it("ignore failures of changes that were removed from the branch", () => {
    const settings = { gate: "make test" } as Parameters<typeof gateStatus>[0]["settings"];
    const state = (...spans: Span[]) => gateStatus({ settings }, timeline({}, spans)).state;
    const [passed, failed] = [span("gate", "passed", "1"), span("gate", "failed", "2")];
    const rebuild = span("rebuild", "done", "3");
    expect(state(passed, failed, rebuild)).toBe("passed");
    expect(state(failed, rebuild)).toBe("never");
    expect(state(rebuild, passed, failed)).toBe("failed");
  });

  it("list all gates, newest first", () => {
    const numbered = (n: number, ...rest: [string | null, string | null]) => ({
      ...span("gate", ...rest),
      n,
    });
    const spans = [numbered(1, "failed", "1"), span("pause", null, "2"), numbered(2, "passed", "3")];
    expect(listGates(timeline({}, [...spans, numbered(3, null, null)]))).toEqual([
      { n: 3, result: "running" },
      { n: 2, result: "passed" },
      { n: 1, result: "failed" },
    ]);
    expect(listGates(undefined)).toEqual([]);
  });

  it("say while the branch is rebuilt", () => {
    expect(isRebuilding(timeline({}, [span("rebuild", null, null)]))).toBe(true);
    expect(isRebuilding(timeline({}, [span("rebuild", "done", "1")]))).toBe(false);
    expect(isRebuilding(undefined)).toBe(false);
  });
});

describe("what to read first", () => {
  const size = (added: number) => ({ diffstat: { files: 1, added, removed: 0 } });
  const ok = [span("verify", "ok", "2026-01-01T00:00:01Z")];

  it("is large, conflicted before, needed many attempts or was not verified, with the reasons", () => {
    const conflicted = [...ok, span("merge", "conflicted", "2026-01-01T00:00:02Z")];
    const merged = [
      task("small", size(10)),
      task("large", size(400)),
      task("resolved", size(20)),
      task("hard", { ...size(30), attempt: 3 }),
      task("unchecked", { ...size(5), attempt: 4 }),
    ];
    const sample = timeline({ small: ok, large: ok, resolved: conflicted, hard: ok, unchecked: [] });
    expect(suggestReading(merged, sample, undefined)).toEqual([
      { taskId: "unchecked", reasons: ["needed 4 attempts", "not verified"] },
      { taskId: "large", reasons: ["400 lines changed"] },
      { taskId: "hard", reasons: ["needed 3 attempts"] },
    ]);
  });

  it("is without tests, or changes what it didn't declare", () => {
    const change = { files: 1, withoutTests: false, undeclared: [], more: 0 };
    const changes = {
      batchId: "b",
      files: 3,
      tasks: [
        { ...change, taskId: "a", undeclared: ["x.py", "y.py"] },
        { ...change, taskId: "b", withoutTests: true, undeclared: ["z.py"] },
        { ...change, taskId: "c" },
      ],
    };
    const sample = timeline({ a: ok, b: [], c: [] });
    expect(suggestReading([task("a"), task("b"), task("c")], sample, changes)).toEqual([
      { taskId: "b", reasons: ["no tests changed", "changes a file it didn't declare: z.py"] },
      { taskId: "a", reasons: ["changes files it didn't declare: x.py, y.py"] },
    ]); // that two of three weren't verified is usual here
    const without = { ...changes, tasks: changes.tasks.map((each) => ({ ...each, withoutTests: true })) };
    const reasons = suggestReading([task("a"), task("b"), task("c")], sample, without).map(
      (each) => each.reasons,
    );
    expect(reasons.flat().join()).not.toContain("no tests"); // if all are, it is none to begin with one of them
  });

  it("is nothing if all are alike, or there is only one", () => {
    const merged = [task("a", size(500)), task("b", size(450))];
    expect(suggestReading(merged, timeline({ a: [], b: [] }), undefined)).toEqual([]);
    expect(suggestReading([task("a", { attempt: 9 })], undefined, undefined)).toEqual([]);
  });

  it("comes with what all of them changed", () => {
    const merged = [task("a", size(3)), task("b", { ...size(4), cost: { usd: 1.2, tokens: 5 } }), task("c")];
    expect(describeTotals(merged, undefined)).toBe("+7 −0 · 3 tasks · $1.20");
    expect(describeTotals(merged, 2)).toBe("+7 −0 in 2 files · 3 tasks · $1.20");
  });
});
