/* What needs the user, from what the server says. Pure.

   Law: an item is there until it is handled: answered, approved, resolved, published, or dismissed where nothing else ends it. */

import type { BatchSummary, ProviderLimit, Run, Task } from "../api/types";
import { isOpen } from "../batch/batchStatus";
import type { Board } from "./board";

interface ItemOfTask {
  readonly key: string;
  readonly task: Task;
  readonly run: Run;
}

interface ItemOfBatch {
  readonly key: string;
  readonly batch: BatchSummary;
}

export type ForYouItem =
  | ({ readonly kind: "question" | "approval" | "conflict" } & ItemOfTask)
  | ({ readonly kind: "paused" | "review" } & ItemOfBatch)
  | { readonly kind: "provider"; readonly key: string; readonly limit: ProviderLimit };

export type ForYouKind = ForYouItem["kind"];

/** What holds up work comes first, then what only waits to be looked at. */
const ORDER: readonly ForYouKind[] = ["question", "approval", "paused", "provider", "conflict", "review"];

type Known = Pick<Board, "tasks" | "batches" | "limits">;

/** `dismissed`: keys of items that the user has put away. */
export function findForYou(
  { tasks, batches, limits }: Known,
  dismissed: ReadonlySet<string>,
): readonly ForYouItem[] {
  const items = [
    ...taskItems(tasks.values(), batches),
    ...batchItems(batches.values(), batchesToReview(tasks.values())),
    ...limits.map((limit) => ({
      kind: "provider" as const,
      key: `provider ${limit.provider} ${limit.until}`,
      limit,
    })),
  ].filter(({ key }) => !dismissed.has(key));
  return items.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
}

function* taskItems(tasks: Iterable<Task>, batches: Known["batches"]): Iterable<ForYouItem> {
  for (const task of tasks) {
    const run = task.batch;
    if (run === null) continue;
    const key = `${run.batchId} ${run.taskId} ${run.attempt}`;
    if (run.waiting === "answer") yield { kind: "question", key: `question ${key} ${run.reason}`, task, run };
    if (run.waiting === "approval" && run.needsYou)
      yield { kind: "approval", key: `approval ${key}`, task, run };
    if (
      run.status === "conflicted" &&
      task.status !== "completed" &&
      batches.get(run.batchId)?.status !== "cancelled"
    )
      yield { kind: "conflict", key: `conflict ${key}`, task, run };
  }
}

/** The batches in which tasks ended last, and that are not published as they are. */
function batchesToReview(tasks: Iterable<Task>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { batch: run, status } of tasks) {
    if (run === null || status === "skipped") continue;
    if (run.review || (FAILED.has(run.status) && status !== "completed")) found.add(run.batchId);
  }
  return found;
}

const FAILED: ReadonlySet<string> = new Set(["failed", "timed_out", "conflicted", "blocked"]);

function* batchItems(batches: Iterable<BatchSummary>, unreviewed: ReadonlySet<string>): Iterable<ForYouItem> {
  for (const batch of batches) {
    const { id, status, pauseCause, completedAt, reason } = batch;
    if (status === "paused" && pauseCause !== null && pauseCause !== "person" && pauseCause !== "stop")
      yield { kind: "paused", key: `paused ${id} ${reason}`, batch };
    if (!isOpen(batch) && status !== "cancelled" && unreviewed.has(id))
      yield { kind: "review", key: `review ${id} ${completedAt}`, batch };
  }
}

/** `23 merged, 4 failed, 1 blocked`. */
export function formatResults({ progress }: BatchSummary): string {
  const { completed, failed, timedOut, conflicted, blocked, cancelled, skipped, interrupted } = progress;
  const counts: [number, string][] = [
    [completed, "merged"],
    [failed + timedOut, "failed"],
    [conflicted, "conflicted"],
    [blocked, "blocked"],
    [cancelled + skipped + interrupted, "not run"],
  ];
  return counts
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(", ");
}
