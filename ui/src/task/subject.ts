/* Which task the panel is about: the board's, a run's, or both. Pure. */

import type { BatchTask, Run, Task } from "../api/types";
import type { OpenTask } from "../app/address";
import type { Board } from "../model/board";
import { runKey } from "../model/board";
import { COLUMNS, type Column } from "../model/columns";

/** Which run: `taskId` as its batch calls it. */
export interface RunName {
  readonly batchId: string;
  readonly taskId: string;
}

/** What is known of a run, from wherever it is known. */
export type Known = Run | BatchTask;

type Asked = Pick<OpenTask, "task" | "batch">;

/** The task as its source tells it; `undefined` where no source has it any more, or none ever had. */
export function taskOf(board: Board, { task, batch }: Asked): Task | undefined {
  if (batch === null) return board.tasks.get(task);
  const id = board.byRun.get(runKey(batch, task));
  return id === undefined ? undefined : board.tasks.get(id);
}

/** The run that is asked for, or the newest one of the task. */
export function runOf(task: Task | undefined, { task: name, batch }: Asked): RunName | null {
  if (batch !== null) return { batchId: batch, taskId: name };
  const run = task?.batch;
  return run ? { batchId: run.batchId, taskId: run.taskId } : null;
}

/** The task before and the one after this, as the board shows them; of what it does not show, none. */
export function beside(
  columns: Readonly<Record<Column, readonly string[]>>,
  id: string | undefined,
): { before: string | null; after: string | null } {
  const all = COLUMNS.flatMap((column) => columns[column]);
  const at = id === undefined ? -1 : all.indexOf(id);
  if (at < 0) return { before: null, after: null };
  return { before: all[at - 1] ?? null, after: all[at + 1] ?? null };
}
