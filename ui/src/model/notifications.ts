/* Changes between two states of the board that deserve a notification. Pure. */

import { isOpen } from "../batch/batchStatus";
import { statusText } from "../components/Status";
import type { Board } from "./board";
import { pluralize, shortId } from "./format";

export interface BoardNotification {
  /** The same for the same event, so that it is shown only once. */
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  readonly batch: string;
  /** `null`: it is about the whole batch. */
  readonly task: string | null;
}

const FAILED: ReadonlySet<string> = new Set(["failed", "timed_out", "conflicted"]);

/** Only of tasks and batches in both states, so that newly loaded ones don't count as changes. */
export function findNotifications(before: Board, now: Board): readonly BoardNotification[] {
  if (before.tasks === now.tasks && before.batches === now.batches) return [];
  return [...taskNotifications(before, now), ...batchNotifications(before, now)];
}

function* taskNotifications(before: Board, now: Board): Iterable<BoardNotification> {
  for (const [id, task] of now.tasks) {
    const [was, run] = [before.tasks.get(id), task.batch];
    if (run === null || was === undefined || was === task) continue;
    const same = was.batch?.batchId === run.batchId ? was.batch : null;
    const about = { batch: run.batchId, task: run.taskId };
    const tag = (what: string) => `plait ${what} ${run.batchId} ${run.taskId} ${run.attempt}`;
    if (run.needsYou && !same?.needsYou)
      yield { ...about, tag: tag("asks"), title: `${id} needs you`, text: run.reason || task.title };
    if (FAILED.has(run.status) && same?.status !== run.status && (same === null || !FAILED.has(same.status)))
      yield { ...about, tag: tag("failed"), title: `${id} ${statusText(run.status)}`, text: run.reason };
  }
}

function* batchNotifications(before: Board, now: Board): Iterable<BoardNotification> {
  for (const [id, batch] of now.batches) {
    const was = before.batches.get(id);
    if (was === undefined || !isOpen(was) || isOpen(batch)) continue;
    const { completed, total } = batch.progress;
    yield {
      batch: id,
      task: null,
      tag: `plait over ${id} ${batch.completedAt ?? ""}`,
      title: `${batch.name} ${statusText(batch.status)}`,
      text: `batch ${shortId(id)}: ${completed} of ${pluralize(total, "task")} done`,
    };
  }
}
