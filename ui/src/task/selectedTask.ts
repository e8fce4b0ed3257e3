/* The task in the panel: from the board, from a run, or both. */

import { useExplanation, useTaskInBatch } from "../api/queries";
import type { BatchTask, Run, Task } from "../api/types";
import type { OpenTask } from "../app/routes";
import { type Board, runKey } from "../model/board";
import { COLUMNS, type Column } from "../model/columns";
import { useBoard } from "../store/board";

/** Which run: `taskId` as its batch calls it. */
export interface RunRef {
  readonly batchId: string;
  readonly taskId: string;
}

/** What is known of a run, from wherever it is known. */
export type RunInfo = Run | BatchTask;

type TaskRef = Pick<OpenTask, "task" | "batch">;

/** The task as its source tells it; `undefined` where no source has it any more, or none ever had. */
function findTask(board: Board, { task, batch }: TaskRef): Task | undefined {
  if (batch === null) return board.tasks.get(task);
  const id = board.byRun.get(runKey(batch, task));
  return id === undefined ? undefined : board.tasks.get(id);
}

/** The run that is asked for, or the newest one of the task. */
function findRun(task: Task | undefined, { task: name, batch }: TaskRef): RunRef | null {
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

export interface SelectedTask {
  /** The board is loaded. */
  readonly loaded: boolean;
  /** As its source tells it. */
  readonly task: Task | undefined;
  /** As its batch does. */
  readonly run: RunRef | null;
  readonly info: RunInfo | undefined;
  /** There is something to show. */
  readonly exists: boolean;
  readonly inBatch: ReturnType<typeof useTaskInBatch>;
  readonly explanation: ReturnType<typeof useExplanation>;
}

/** What the panel is about. The board is the quicker one to know where a run stands. */
export function useSelectedTask(open: OpenTask): SelectedTask {
  const loaded = useBoard((store) => store.loaded);
  const task = useBoard(({ board }) => findTask(board, open));
  const run = findRun(task, open);
  const inBatch = useTaskInBatch(run);
  const explanation = useExplanation(run);
  const known = task?.batch ?? (run === null ? undefined : inBatch.data?.task);
  const there = run === null ? task !== undefined : known !== undefined;
  return { loaded, task, run, info: known, exists: there, inBatch, explanation };
}
