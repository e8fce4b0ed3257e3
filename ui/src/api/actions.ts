/* Requests to act on tasks and batches, reported in toasts. Nothing is shown as done before the journal says so: the
   board follows the events. */

import { releaseFreeze } from "../board/boardLayout";
import { confirm } from "../components/ConfirmDialog";
import { dismissErrors, SERVER_SUBJECT, showError, showToast } from "../components/Toasts";
import { runKey } from "../model/board";
import { hasEnded, isAtWork } from "../model/columns";
import { useBoard } from "../store/board";
import { api, unwrap } from "./client";
import type { ActionResults, TaskAction, TaskStatus } from "./types";

export type BatchAction = "cancel" | "pause" | "unpause" | "resume" | "approve" | "retry";

const ACTION_LABELS: Record<TaskAction | BatchAction, string> = {
  cancel: "Cancelling",
  pause: "Pausing",
  unpause: "Unpausing",
  resume: "Resuming",
  approve: "Approved",
  retry: "Retrying",
  recheck: "Rechecking",
  drop: "Dropping",
  feedback: "Sent your message to",
};

/** True if the request was granted or accepted. A refusal is shown as a toast. */
export async function sendBatchAction(
  batchId: string,
  action: BatchAction,
  body: { all?: boolean; agent?: string; budget?: string } = {},
): Promise<boolean> {
  const path = { batch_id: batchId };
  return sendAndReport(`${ACTION_LABELS[action]} batch ${batchId.slice(0, 8)}`, batchId, () => {
    switch (action) {
      case "approve":
        return unwrap(
          api.POST("/api/batches/{batch_id}/approve", { params: { path }, body: { all: body.all ?? false } }),
        );
      case "retry":
        return unwrap(
          api.POST("/api/batches/{batch_id}/retry", {
            params: { path },
            body: { agent: body.agent ?? null },
          }),
        );
      case "unpause":
        return unwrap(
          api.POST("/api/batches/{batch_id}/unpause", {
            params: { path },
            body: { budget: body.budget ?? null },
          }),
        );
      default:
        return unwrap(api.POST(`/api/batches/{batch_id}/${action}`, { params: { path } }));
    }
  });
}

export async function sendTaskAction(
  batchId: string,
  taskId: string,
  action: TaskAction,
  body: { agent?: string; text?: string } = {},
): Promise<boolean> {
  const params = { path: { batch_id: batchId, task_id: taskId } };
  const undo = { text: "Retry", run: () => void retryWhenEnded(batchId, taskId) };
  const offered = action === "cancel" ? undo : null;
  return sendAndReport(`${ACTION_LABELS[action]} ${taskId}`, runKey(batchId, taskId), send, offered);

  function send(): Promise<ActionResults> {
    switch (action) {
      case "retry":
        return unwrap(
          api.POST("/api/batches/{batch_id}/tasks/{task_id}/retry", {
            params,
            body: { agent: body.agent ?? null },
          }),
        );
      case "feedback":
        return unwrap(
          api.POST("/api/batches/{batch_id}/tasks/{task_id}/feedback", {
            params,
            body: { text: body.text ?? "" },
          }),
        );
      default:
        return unwrap(api.POST(`/api/batches/{batch_id}/tasks/{task_id}/${action}`, { params }));
    }
  }
}

/** A task that was cancelled ends when its attempt has been stopped. */
async function retryWhenEnded(batchId: string, taskId: string): Promise<void> {
  const isOver = ({ board: { tasks, byRun } }: ReturnType<typeof useBoard.getState>) => {
    const run = tasks.get(byRun.get(runKey(batchId, taskId)) ?? "")?.batch;
    return !run || hasEnded(run.status);
  };
  if (!isOver(useBoard.getState())) {
    await new Promise<void>((resolve) => {
      const stop = useBoard.subscribe((store) => {
        if (!isOver(store)) return;
        stop();
        resolve();
      });
    });
  }
  await sendTaskAction(batchId, taskId, "retry");
}

/** Asks first if work would be lost. */
export async function cancelTask(batchId: string, taskId: string, status: TaskStatus): Promise<boolean> {
  const question = {
    title: `Cancel ${taskId}?`,
    text: "Its attempt is stopped and its work discarded. Tasks that need it are blocked. You can retry it later.",
    action: "Cancel the task",
    danger: true,
  };
  if (isAtWork(status) && !(await confirm(question))) return false;
  return sendTaskAction(batchId, taskId, "cancel");
}

type Offered = { text: string; run(): void } | null;

async function sendAndReport(
  label: string,
  subject: string,
  send: () => Promise<ActionResults>,
  action: Offered = null,
): Promise<boolean> {
  try {
    const { results } = await send();
    const refused = results.find(({ result }) => result === "refused");
    if (refused !== undefined) {
      showError(new Error(refused.reason ?? "refused"), label, subject);
      return false;
    }
    const pending = results.some(({ result }) => result === "accepted");
    showToast(pending ? `${label}: queued; no engine has picked it up yet` : label, null, {
      action,
      subject,
    });
    releaseFreeze();
    return true;
  } catch (error) {
    showError(error, undefined, subject);
    return false;
  }
}

/** An error is over when its task or batch has another status, or the server responds again. */
useBoard.subscribe(({ board, connection }, { board: before, connection: connectionBefore }) => {
  if (connection === "live" && connectionBefore !== "live")
    dismissErrors((subject) => subject === SERVER_SUBJECT);
  if (board.tasks === before.tasks && board.batches === before.batches) return;
  const status = ({ tasks, byRun, batches }: typeof board, subject: string) =>
    batches.get(subject)?.status ?? tasks.get(byRun.get(subject) ?? "")?.batch?.status;
  dismissErrors((subject) => subject !== null && status(board, subject) !== status(before, subject));
});
