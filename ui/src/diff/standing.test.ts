import { describe, expect, it } from "vitest";
import type { BatchHead, BatchTask } from "../api/types";
import { ofBatch, ofTask } from "./standing";

const head = (isolation: string) => ({ settings: { isolation } }) as BatchHead;
const task = (part: Partial<BatchTask>): BatchTask =>
  ({ attempt: 1, status: "done", commit: null, worktreePath: "/w", reason: "", ...part }) as BatchTask;
const worktree = head("worktree");

describe("whether there is a change to read", () => {
  it("there is one of a batch once something is merged, and another after each merge", () => {
    expect(ofBatch(worktree, [task({})])).toMatchObject({ mark: null, title: "Nothing is merged yet" });
    const one = ofBatch(worktree, [task({ commit: "a" })]).mark;
    expect(one).not.toBeNull();
    expect(ofBatch(worktree, [task({ commit: "a" }), task({ commit: "b" })]).mark).not.toBe(one);
  });

  it("there is one of a task from its first attempt on, as soon as that has a workspace", () => {
    expect(ofTask(worktree, task({ attempt: 0, status: "waiting", reason: "needs 01" }))).toMatchObject({
      mark: null,
      more: "needs 01",
    });
    expect(ofTask(worktree, task({ status: "running", worktreePath: null })).mark).toBeNull();
    expect(ofTask(worktree, task({ status: "running" })).mark).not.toBeNull();
    expect(ofTask(worktree, task({ status: "failed", worktreePath: null })).mark).not.toBeNull();
  });

  it("there is none where tasks work in the checkout itself", () => {
    expect(ofTask(head("in-place"), task({})).mark).toBeNull();
    expect(ofBatch(head("in-place"), [task({ commit: "a" })]).mark).toBeNull();
  });
});
