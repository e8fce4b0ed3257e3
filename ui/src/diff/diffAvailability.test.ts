import { describe, expect, it } from "vitest";
import type { BatchSummary, BatchTask } from "../api/types";
import { batchDiffAvailability, taskDiffAvailability } from "./diffAvailability";

const head = (isolation: string, executor = "local") =>
  ({ settings: { isolation, executor } }) as BatchSummary;
const task = (part: Partial<BatchTask>): BatchTask =>
  ({ attempt: 1, status: "done", commit: null, worktreePath: "/w", reason: "", ...part }) as BatchTask;
const worktree = head("worktree");

describe("whether there is a diff", () => {
  it("a batch has one after the first merge, and a new version after each merge", () => {
    expect(batchDiffAvailability(worktree, [task({})])).toMatchObject({
      version: null,
      title: "Nothing merged yet",
    });
    const one = batchDiffAvailability(worktree, [task({ commit: "a" })]).version;
    expect(one).not.toBeNull();
    expect(batchDiffAvailability(worktree, [task({ commit: "a" }), task({ commit: "b" })]).version).not.toBe(
      one,
    );
  });

  it("a task has one as soon as its first attempt has a workspace", () => {
    expect(
      taskDiffAvailability(worktree, task({ attempt: 0, status: "waiting", reason: "needs 01" })),
    ).toMatchObject({
      version: null,
      detail: "needs 01",
    });
    expect(
      taskDiffAvailability(worktree, task({ status: "running", worktreePath: null })).version,
    ).toBeNull();
    expect(taskDiffAvailability(worktree, task({ status: "running" })).version).not.toBeNull();
    expect(
      taskDiffAvailability(worktree, task({ status: "failed", worktreePath: null })).version,
    ).not.toBeNull();
  });

  it("on a cluster, a task has one when its attempt has ended", () => {
    const remote = head("worktree", "ray");
    expect(taskDiffAvailability(remote, task({ status: "running", worktreePath: null }))).toMatchObject({
      version: null,
      title: "Running on a node of the cluster",
    });
    expect(taskDiffAvailability(remote, task({ worktreePath: null })).version).not.toBeNull();
  });

  it("there is none for tasks that run in place", () => {
    expect(taskDiffAvailability(head("in-place"), task({})).version).toBeNull();
    expect(batchDiffAvailability(head("in-place"), [task({ commit: "a" })]).version).toBeNull();
  });
});
