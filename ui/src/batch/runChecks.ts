/* Whether the selected tasks or a planned batch can be run, and why not. Pure. */

import { ApiError, omitCommands } from "../api/client";
import type { BatchSummary, Plan, Problem, Run, Task, TaskAction, TaskStatus } from "../api/types";
import { isOpen } from "./batchStatus";
import type { PlanPreviewState } from "./usePlanPreview";

export interface RunBlocker {
  /** A sentence. */
  readonly reason: string;
  /** Without these tasks it would be possible. */
  readonly without: readonly string[];
}

const ACTIVE: ReadonlySet<TaskStatus> = new Set(["queued", "waiting", "running", "verifying", "merging"]);

/**
 * Why these tasks can't be run as one batch now; `null`: they can, as far as the board knows. The plan
 * decides.
 */
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
    return { reason: `${unreadable[0].id} can't be read: fix its file first.`, without: [] };
  if (tasks.length > 0 && tasks.every(({ status }) => status === "completed" || status === "skipped"))
    return {
      reason:
        tasks.length === 1 ? "This task is already complete." : "All selected tasks are already complete.",
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

export type BulkAction = Exclude<TaskAction, "feedback" | "recheck">;

/** Why the action is possible for none of them, as a sentence. */
export function whyNotRun(action: BulkAction, tasks: readonly Task[]): string | null {
  const runs = tasks.flatMap(({ batch }) => (batch === null ? [] : [batch]));
  if (runs.length === 0) return "None of these tasks is in a batch.";
  switch (action) {
    case "cancel":
      return runs.some(({ status }) => ACTIVE.has(status)) ? null : "None of these tasks is active.";
    case "retry":
      return runs.some(({ status }) => !ACTIVE.has(status)) ? null : "None of these tasks has ended.";
    case "approve":
      return runs.some(({ waiting }) => waiting === "approval" || waiting === "turn")
        ? null
        : "None of these tasks is waiting for approval.";
    case "drop":
      return runs.some(({ status }) => status !== "skipped")
        ? null
        : "All of these tasks are already dropped.";
  }
}

/** Why the batch can't be started, as a sentence; `null` if it can. */
export function whyNotStart({ plan, error, stale }: Omit<PlanPreviewState, "retry">): string | null {
  if (stale) return "Still planning.";
  if (error) return error instanceof ApiError ? toSentence(error.message) : "Planning failed.";
  if (plan === undefined) return "Still planning.";
  const failed = plan.problems.find(({ severity }) => severity === "error");
  if (failed !== undefined) return toSentence(failed.message);
  return plan.tasks.length === 0 ? "Nothing to do: all selected tasks are complete." : null;
}

/** Needed tasks that aren't selected prevent the start: include or ignore them. */
export function hasMissingNeeds({ problems }: Plan): boolean {
  return problems.some(({ severity, hint }) => severity === "error" && Boolean(hint?.includes("withNeeds")));
}

/** The hint as shown on this page; hints that the page has a button for are left out. */
export function problemHint({ hint }: Problem): string | null {
  return hint === null || /`(?:withNeeds|again)`/.test(hint) ? null : omitCommands(hint);
}

/** Entrants of a contest don't count as tasks. */
export function countTasks(plan: Plan): number {
  return plan.tasks.filter(({ entrantOf }) => entrantOf === null).length;
}

const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 } as const;

export function sortBySeverity(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((one, other) => SEVERITY_ORDER[one.severity] - SEVERITY_ORDER[other.severity]);
}

function toSentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}
