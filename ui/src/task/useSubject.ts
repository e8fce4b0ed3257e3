import type { Task } from "../api/types";
import type { OpenTask } from "../app/address";
import { useBoard } from "../store/board";
import { type Known, type RunName, runOf, taskOf } from "./subject";
import { useExplanation, useInBatch } from "./useRun";

export interface Subject {
  /** The board was read. */
  readonly loaded: boolean;
  /** As its source tells it. */
  readonly task: Task | undefined;
  /** As its batch does. */
  readonly run: RunName | null;
  readonly known: Known | undefined;
  /** There is something to show. */
  readonly there: boolean;
  readonly inBatch: ReturnType<typeof useInBatch>;
  readonly explanation: ReturnType<typeof useExplanation>;
}

/** What the panel is about. The board is the quicker one to know where a run stands. */
export function useSubject(open: OpenTask): Subject {
  const loaded = useBoard((store) => store.loaded);
  const task = useBoard(({ board }) => taskOf(board, open));
  const run = runOf(task, open);
  const inBatch = useInBatch(run);
  const explanation = useExplanation(run);
  const known = task?.batch ?? (run === null ? undefined : inBatch.data?.task);
  const there = run === null ? task !== undefined : known !== undefined;
  return { loaded, task, run, known, there, inBatch, explanation };
}
