/* Which task the panel is about: the board's, a run's, or both. Pure. */

import type { BatchTask, Run, Task } from "../api/types";
import type { OpenTask } from "../app/address";
import type { Board } from "../model/board";
import { runKey } from "../model/board";
import { COLUMNS, type Column } from "../model/columns";

/** Which run: `taskId` as its batch calls it. */
export interface RunRef {
  readonly batchId: string;
  readonly taskId: string;
}

/** What is known of a run, from wherever it is known. */
export type RunInfo = Run | BatchTask;

type TaskRef = Pick<OpenTask, "task" | "batch">;

/** The task as its source tells it; `undefined` where no source has it any more, or none ever had. */
export function findTask(board: Board, { task, batch }: TaskRef): Task | undefined {
  if (batch === null) return board.tasks.get(task);
  const id = board.byRun.get(runKey(batch, task));
  return id === undefined ? undefined : board.tasks.get(id);
}

/** The run that is asked for, or the newest one of the task. */
export function findRun(task: Task | undefined, { task: name, batch }: TaskRef): RunRef | null {
  if (batch !== null) return { batchId: batch, taskId: name };
  const run = task?.batch;
  return run ? { batchId: run.batchId, taskId: run.taskId } : null;
}

/** The task before and the one after this, as the board shows them; of what it does not show, none. */
export function adjacentTasks(
  columns: Readonly<Record<Column, readonly string[]>>,
  id: string | undefined,
): { previous: string | null; next: string | null } {
  const all = COLUMNS.flatMap((column) => columns[column]);
  const at = id === undefined ? -1 : all.indexOf(id);
  if (at < 0) return { previous: null, next: null };
  return { previous: all[at - 1] ?? null, next: all[at + 1] ?? null };
}
