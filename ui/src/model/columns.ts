/* Which column of the board a task is in. */

import type { Task, TaskStatus } from "../api/types";

export const COLUMNS = ["todo", "waiting", "running", "asking", "review", "done", "failed"] as const;
export type Column = (typeof COLUMNS)[number];

export const COLUMN_NAMES: Record<Column, string> = {
  todo: "To do",
  waiting: "Waiting",
  running: "Running",
  asking: "Needs you",
  review: "Review",
  done: "Done",
  failed: "Failed",
};

/** Whether an attempt of the task is at work, or its change is being merged. */
export function isAtWork(status: TaskStatus): boolean {
  return status === "running" || status === "verifying" || status === "merging";
}

const ENDED: ReadonlySet<TaskStatus> = new Set([
  "done",
  "failed",
  "timed_out",
  "blocked",
  "skipped",
  "conflicted",
  "cancelled",
]);

export function hasEnded(status: TaskStatus): boolean {
  return ENDED.has(status);
}

/** By the task's status in its newest batch; without one, by its source. */
export function columnOf(task: Task): Column {
  const run = task.batch;
  if (run === null) return columnBySourceStatus(task);
  if (run.needsYou) return "asking";
  switch (run.status) {
    case "queued":
    case "waiting":
      return "waiting";
    case "running":
    case "verifying":
    case "merging":
      return "running";
    case "done":
      return run.review ? "review" : "done";
    case "failed":
    case "timed_out":
    case "blocked":
    case "conflicted":
      return task.status === "completed" ? "done" : "failed";
    case "skipped":
    case "cancelled":
    case "interrupted":
      return columnBySourceStatus(task);
  }
}

function columnBySourceStatus(task: Task): Column {
  switch (task.status) {
    case "completed":
    case "skipped":
      return "done";
    case "failed":
    case "blocked":
    case "unreadable":
      return "failed";
    default:
      return "todo";
  }
}
