/* Requests to act on tasks and batches, reported in toasts. Nothing is shown as done before the journal says so: the
   board follows the events. */

import { showError, showToast } from "../components/Toasts";
import { api, unwrap } from "./client";
import type { ActionResults, TaskAction } from "./types";

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
  feedback: "Sent feedback to",
};

/** True if the request was granted or accepted. A refusal is shown as a toast. */
export async function sendBatchAction(
  batchId: string,
  action: BatchAction,
  body: { all?: boolean; agent?: string } = {},
): Promise<boolean> {
  const path = { batch_id: batchId };
  return sendAndReport(`${ACTION_LABELS[action]} batch ${batchId.slice(0, 8)}`, () => {
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
  return sendAndReport(`${ACTION_LABELS[action]} ${taskId}`, () => {
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
  });
}

async function sendAndReport(label: string, send: () => Promise<ActionResults>): Promise<boolean> {
  try {
    const { results } = await send();
    const refused = results.find(({ result }) => result === "refused");
    if (refused !== undefined) {
      showError(new Error(refused.reason ?? "refused"), label);
      return false;
    }
    const pending = results.some(({ result }) => result === "accepted");
    showToast(pending ? `${label}: queued; no engine has picked it up yet` : label);
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}
