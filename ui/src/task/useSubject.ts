import type { Task } from "../api/types";
import type { OpenTask } from "../app/address";
import { useBoard } from "../store/board";
import { findRun, findTask, type RunInfo, type RunRef } from "./subject";
import { useExplanation, useTaskInBatch } from "./useRun";

export interface SelectedTask {
  /** The board was read. */
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
