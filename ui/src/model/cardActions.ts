/* What can be done with a task where it is shown. Pure: the server has the last word. */

import type { Run, Task, TaskStatus } from "../api/types";
import { type Board, runKey } from "./board";
import { columnOf, hasEnded } from "./columns";
import { isGroup } from "./groups";

const RETRYABLE: ReadonlySet<TaskStatus> = new Set([
  "failed",
  "timed_out",
  "conflicted",
  "cancelled",
  "skipped",
]);

type Known = Pick<Board, "tasks" | "byRun">;

export interface CardActions {
  /** It is in no batch yet. */
  readonly run: boolean;
  /** The tasks that a retry is about: itself, or those that block it. */
  readonly retry: readonly Task[];
  readonly approve: boolean;
  /** Its agent waits for an answer, or takes feedback. */
  readonly tell: "answer" | "feedback" | null;
  readonly log: boolean;
  readonly diff: boolean;
  readonly cancel: boolean;
}

export function findCardActions(task: Task, board: Known): CardActions {
  const run = task.batch;
  if (run === null) {
    const none = { retry: [], approve: false, tell: null, log: false, diff: false, cancel: false };
    return { ...none, run: columnOf(task) === "todo" && !isGroup(task) };
  }
  return {
    run: false,
    retry: RETRYABLE.has(run.status) ? [task] : run.status === "blocked" ? findBlockers(task, board) : [],
    approve: run.waiting === "approval",
    tell:
      run.waiting === "answer"
        ? "answer"
        : RETRYABLE.has(run.status) || run.status === "done"
          ? "feedback"
          : null,
    log: run.attempt > 0,
    diff: run.commit !== null || (run.diffstat?.files ?? 0) > 0,
    cancel: !hasEnded(run.status) && run.status !== "interrupted",
  };
}

/** The tasks of its batch whose end blocks it, not those that are blocked themselves. */
export function findBlockers(task: Task, { tasks, byRun }: Known): readonly Task[] {
  const found = new Map<string, Task>();
  const seen = new Set<string>();
  const visit = (each: Task, run: Run) => {
    for (const { id } of each.needs) {
      const need = tasks.get(byRun.get(runKey(run.batchId, id)) ?? id);
      if (need?.batch?.batchId !== run.batchId || seen.has(need.id)) continue;
      seen.add(need.id);
      if (RETRYABLE.has(need.batch.status)) found.set(need.id, need);
      else if (need.batch.status === "blocked") visit(need, need.batch);
    }
  };
  if (task.batch !== null) visit(task, task.batch);
  return [...found.values()];
}

/** `Retry`, or what a blocked task waits for: `Retry 06-stripe`. */
export function retryLabel(task: Task, retried: readonly Task[]): string {
  const [first] = retried;
  if (first === undefined || first.id === task.id) return "Retry";
  return retried.length === 1 ? `Retry ${first.id}` : `Retry ${retried.length} tasks that block it`;
}

/** Of the failed column; the tasks they blocked follow by themselves. */
export function findRetryable(ids: readonly string[], tasks: Board["tasks"]): readonly Task[] {
  return ids.flatMap((id) => {
    const task = tasks.get(id);
    return task?.batch && RETRYABLE.has(task.batch.status) ? [task] : [];
  });
}
