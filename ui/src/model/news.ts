/* What happened between two states of the board that is worth calling a person for. Pure. */

import { isOpen } from "../batch/watching";
import { word } from "../parts/Status";
import type { Board } from "./board";
import { count, short } from "./format";

export interface News {
  /** The same for the same thing, whoever sees it: nobody is told twice. */
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  readonly batch: string;
  /** `null`: it is about the whole batch. */
  readonly task: string | null;
}

const BAD: ReadonlySet<string> = new Set(["failed", "timed_out", "conflicted"]);

/** Of tasks and batches that both of them know, so that nothing counts that was there before. */
export function news(before: Board, now: Board): readonly News[] {
  if (before.tasks === now.tasks && before.batches === now.batches) return [];
  return [...ofTasks(before, now), ...ofBatches(before, now)];
}

function* ofTasks(before: Board, now: Board): Iterable<News> {
  for (const [id, task] of now.tasks) {
    const [was, run] = [before.tasks.get(id), task.batch];
    if (run === null || was === undefined || was === task) continue;
    const same = was.batch?.batchId === run.batchId ? was.batch : null;
    const about = { batch: run.batchId, task: run.taskId };
    const tag = (what: string) => `plait ${what} ${run.batchId} ${run.taskId} ${run.attempt}`;
    if (run.needsYou && !same?.needsYou)
      yield { ...about, tag: tag("asks"), title: `${id} needs you`, text: run.reason || task.title };
    if (BAD.has(run.status) && same?.status !== run.status && (same === null || !BAD.has(same.status)))
      yield { ...about, tag: tag("failed"), title: `${id} ${word(run.status)}`, text: run.reason };
  }
}

function* ofBatches(before: Board, now: Board): Iterable<News> {
  for (const [id, batch] of now.batches) {
    const was = before.batches.get(id);
    if (was === undefined || !isOpen(was) || isOpen(batch)) continue;
    const { completed, total } = batch.progress;
    yield {
      batch: id,
      task: null,
      tag: `plait over ${id} ${batch.completedAt ?? ""}`,
      title: `Batch ${short(id)} ${word(batch.status)}`,
      text: `${completed} of ${count(total, "task")} done`,
    };
  }
}
