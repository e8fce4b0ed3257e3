/* The task in the panel: from the board, from a run, or both. */

import { useShallow } from "zustand/react/shallow";
import { useExplanation, useTaskInBatch } from "../api/queries";
import type { BatchTask, Run, Task } from "../api/types";
import type { OpenTask } from "../app/routes";
import { type Board, runKey } from "../model/board";
import { findBlockers } from "../model/cardActions";
import { COLUMNS, type Column } from "../model/columns";
import { useBoard } from "../store/board";

/** The run: `taskId` is the id in its batch. */
export interface RunRef {
  readonly batchId: string;
  readonly taskId: string;
}

/** A run, whether it comes from the board or from its batch. */
export type RunInfo = Run | BatchTask;

type TaskRef = Pick<OpenTask, "task" | "batch">;

/** The task in its source; `undefined` if no source has it. */
function findTask(board: Board, { task, batch }: TaskRef): Task | undefined {
  if (batch === null) return board.tasks.get(task);
  const id = board.byRun.get(runKey(batch, task));
  return id === undefined ? undefined : board.tasks.get(id);
}

/** The requested run, or the newest one of the task. */
function findRun(task: Task | undefined, { task: name, batch }: TaskRef): RunRef | null {
  if (batch !== null) return { batchId: batch, taskId: name };
  const run = task?.batch;
  return run ? { batchId: run.batchId, taskId: run.taskId } : null;
}

/** The previous and next task on the board; none for a task that isn't shown there. */
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
  /** The task in its source. */
  readonly task: Task | undefined;
  /** The task in its batch. */
  readonly run: RunRef | null;
  readonly info: RunInfo | undefined;
  /** There is something to show. */
  readonly exists: boolean;
  readonly inBatch: ReturnType<typeof useTaskInBatch>;
  readonly explanation: ReturnType<typeof useExplanation>;
  /** If it is blocked: the tasks to retry instead. */
  readonly blockers: readonly Task[];
}

/** What the panel shows. The board has the newest status of a run. */
export function useSelectedTask(open: OpenTask): SelectedTask {
  const loaded = useBoard((store) => store.loaded);
  const task = useBoard(({ board }) => findTask(board, open));
  const run = findRun(task, open);
  const inBatch = useTaskInBatch(run);
  const explanation = useExplanation(run);
  const known = task?.batch ?? (run === null ? undefined : inBatch.data?.task);
  const there = run === null ? task !== undefined : known !== undefined;
  const blockers = useBoard(
    useShallow(({ board }) => (task?.batch?.status === "blocked" ? findBlockers(task, board) : [])),
  );
  return { loaded, task, run, info: known, exists: there, inBatch, explanation, blockers };
}
