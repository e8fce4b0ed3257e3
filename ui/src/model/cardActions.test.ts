import { describe, expect, it } from "vitest";
import type { Run } from "../api/types";
import { EMPTY_BOARD, replaceBoard } from "./board";
import { findCardActions, findRetryable, retryLabel } from "./cardActions";
import { sampleRun, sampleTask } from "./testData";

const need = (id: string) => ({ id, kind: "need" as const, reason: "", at: null });

function boardOf(...runs: [string, Partial<Run>, string[]][]) {
  const tasks = runs.map(([id, run, needs]) =>
    sampleTask(id, { needs: needs.map(need), batch: sampleRun(id, run) }),
  );
  return replaceBoard(EMPTY_BOARD, tasks, [], []);
}

function actions(board: ReturnType<typeof boardOf>, id: string) {
  const task = board.tasks.get(id) ?? sampleTask(id);
  const found = findCardActions(task, board);
  return { ...found, retry: found.retry.map((each) => each.id), label: retryLabel(task, found.retry) };
}

describe("a card's actions", () => {
  const board = boardOf(
    ["keys", { status: "failed", attempt: 1 }, []],
    ["stripe", { status: "blocked" }, ["keys"]],
    ["receipts", { status: "blocked" }, ["stripe", "mail"]],
    ["mail", { status: "done", attempt: 1, commit: "c0ffee" }, []],
    ["slow", { status: "running", attempt: 1 }, []],
    ["next", { status: "waiting", waiting: "approval" }, []],
    ["ask", { status: "running", waiting: "answer", attempt: 1 }, []],
  );

  it("are a retry of what failed, also where it blocks another", () => {
    expect(actions(board, "keys")).toMatchObject({
      retry: ["keys"],
      label: "Retry",
      tell: "feedback",
      log: true,
    });
    expect(actions(board, "receipts")).toMatchObject({ retry: ["keys"], label: "Retry keys", log: false });
    expect(actions(board, "slow")).toMatchObject({ retry: [], cancel: true, log: true });
  });

  it("are an approval and an answer where the task waits for them", () => {
    expect(actions(board, "next")).toMatchObject({ approve: true, tell: null, cancel: true });
    expect(actions(board, "ask")).toMatchObject({ approve: false, tell: "answer" });
    expect(actions(board, "mail")).toMatchObject({ tell: "feedback", diff: true, cancel: false });
    expect(actions(board, "in no batch")).toMatchObject({ retry: [], tell: null, log: false, cancel: false });
  });

  it("of the failed column retry what can be retried", () => {
    const retryable = findRetryable(["keys", "stripe", "mail"], board.tasks).map(({ id }) => id);
    expect(retryable).toEqual(["keys"]);
  });
});
