/* What a person does with a card: by a button on it, a key, or its menu. */

import { create } from "zustand";
import { cancelTask, sendTaskAction } from "../api/actions";
import type { Task } from "../api/types";
import { runBulkAction } from "../batch/BulkActions";
import { showError, showToast } from "../components/Toasts";
import { runKey } from "../model/board";
import { type CardActions, findCardActions } from "../model/cardActions";
import { pluralize } from "../model/format";
import { useBoard } from "../store/board";
import { releaseFreeze } from "./boardLayout";

interface CardDialogs {
  /** The task whose menu is open, and where. */
  readonly menu: { readonly id: string; readonly x: number; readonly y: number } | null;
  /** The task whose agent is told something. */
  readonly tell: string | null;
}

export const useCardDialogs = create<CardDialogs>(() => ({ menu: null, tell: null }));

export function actionsOf(task: Task): CardActions {
  return findCardActions(task, useBoard.getState().board);
}

export async function retryTasks(tasks: readonly Task[]): Promise<void> {
  const [only] = tasks;
  if (tasks.length === 1 && only?.batch) {
    await sendTaskAction(only.batch.batchId, only.batch.taskId, "retry");
    return;
  }
  const results = await runBulkAction("retry", tasks);
  const granted = results.filter((each) => each.granted).length;
  const refused = results.find((each) => !each.granted);
  const run = tasks.find(({ id }) => id === refused?.id)?.batch;
  if (granted > 0) showToast(`Retrying ${pluralize(granted, "task")}`);
  if (refused !== undefined)
    showError(
      new Error(refused.message),
      `Retrying ${refused.id}`,
      run ? runKey(run.batchId, run.taskId) : null,
    );
  releaseFreeze();
}

export function retryCard(task: Task): void {
  const { retry } = actionsOf(task);
  if (retry.length === 0) showToast(`${task.id} has nothing to retry.`);
  else void retryTasks(retry);
}

export function approveCard(task: Task): void {
  if (task.batch === null || !actionsOf(task).approve) showToast(`${task.id} does not wait for approval.`);
  else void sendTaskAction(task.batch.batchId, task.batch.taskId, "approve");
}

export function tellCard(task: Task): void {
  if (actionsOf(task).tell === null) showToast(`${task.id} takes no feedback now.`);
  else useCardDialogs.setState({ tell: task.id });
}

export function cancelCard(task: Task): void {
  if (task.batch !== null) void cancelTask(task.batch.batchId, task.batch.taskId, task.batch.status);
}

/** At its card, for a key; at the pointer, for a click. */
export function openCardMenu(id: string, at?: { x: number; y: number }): void {
  const box = document.querySelector(`[data-card="${CSS.escape(id)}"]`)?.getBoundingClientRect();
  const place = at ?? { x: (box?.left ?? 0) + 16, y: (box?.top ?? 0) + 24 };
  useCardDialogs.setState({ menu: { id, ...place } });
}
