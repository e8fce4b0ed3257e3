/* Whether the tasks that are selected can be run, and what can be asked of them. Pure. */

import type { BatchSummary, Run, Task, TaskAction, TaskStatus } from "../api/types";
import { isOpen } from "./watching";

export interface RunBlocker {
  /** A sentence. */
  readonly reason: string;
  /** Without these it could be. */
  readonly without: readonly string[];
}

const ACTIVE: ReadonlySet<TaskStatus> = new Set(["queued", "waiting", "running", "verifying", "merging"]);

/** Why these can't be run as one batch now; `null`: they can, as far as the board knows. The plan has the last word. */
export function findRunBlocker(
  tasks: readonly Task[],
  batches: ReadonlyMap<string, BatchSummary>,
): RunBlocker | null {
  const busy = tasks.filter((task) => isInOpenBatch(task.batch, batches));
  const first = busy[0];
  if (first !== undefined)
    return { reason: describeOpenBatch(first, busy.length), without: busy.map(({ id }) => id) };
  const unreadable = tasks.filter(({ status }) => status === "unreadable");
  if (unreadable[0] !== undefined && unreadable.length === tasks.length)
    return { reason: `${unreadable[0].id} can't be read: mend its file first.`, without: [] };
  if (tasks.length > 0 && tasks.every(({ status }) => status === "completed" || status === "skipped"))
    return {
      reason: tasks.length === 1 ? "It is complete already." : "All of them are complete already.",
      without: [],
    };
  return null;
}

function isInOpenBatch(run: Run | null, batches: ReadonlyMap<string, BatchSummary>): boolean {
  if (run === null || !ACTIVE.has(run.status)) return false;
  const batch = batches.get(run.batchId);
  return batch === undefined || isOpen(batch);
}

function describeOpenBatch({ id, batch }: Task, count: number): string {
  const others = count > 1 ? ` and ${count - 1} more are` : " is";
  return `${id}${others} in ${count > 1 ? "batches that are" : `batch ${batch?.batchId ?? ""}, which is`} still open.`;
}

export type BulkAction = Exclude<TaskAction, "feedback">;

/** A sentence: why this can be asked of none of them. */
export function whyNotRun(action: BulkAction, tasks: readonly Task[]): string | null {
  const runs = tasks.flatMap(({ batch }) => (batch === null ? [] : [batch]));
  if (runs.length === 0) return "None of them is in a batch.";
  switch (action) {
    case "cancel":
      return runs.some(({ status }) => ACTIVE.has(status)) ? null : "None of them is under way.";
    case "retry":
      return runs.some(({ status }) => !ACTIVE.has(status)) ? null : "None of them has ended.";
    case "approve":
      return runs.some(({ waiting }) => waiting === "approval" || waiting === "turn")
        ? null
        : "None of them waits for approval.";
    case "drop":
      return runs.some(({ status }) => status !== "skipped") ? null : "All of them are dropped already.";
  }
}
