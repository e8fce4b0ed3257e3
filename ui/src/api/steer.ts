/* What people ask for, and what became of it, in words. Nothing is shown as done before the journal says so: the board
   follows the events, and here is only said that it was asked. */

import { say, sayError } from "../parts/Toasts";
import { api, told } from "./client";
import type { Answered, TaskAction } from "./types";

export type BatchAction = "cancel" | "pause" | "unpause" | "resume" | "approve" | "retry";

const ASKED: Record<TaskAction | BatchAction, string> = {
  cancel: "Cancelling",
  pause: "Pausing",
  unpause: "Going on with",
  resume: "Resuming",
  approve: "Approved",
  retry: "Trying again",
  drop: "Dropping",
  feedback: "Told",
};

/** True: it was granted, or is safe and will be. What is refused is said. */
export async function steerBatch(
  batchId: string,
  action: BatchAction,
  body: { all?: boolean; agent?: string } = {},
): Promise<boolean> {
  const path = { batch_id: batchId };
  return answered(`${ASKED[action]} batch ${batchId.slice(0, 8)}`, () => {
    switch (action) {
      case "approve":
        return told(
          api.POST("/api/batches/{batch_id}/approve", { params: { path }, body: { all: body.all ?? false } }),
        );
      case "retry":
        return told(
          api.POST("/api/batches/{batch_id}/retry", {
            params: { path },
            body: { agent: body.agent ?? null },
          }),
        );
      default:
        return told(api.POST(`/api/batches/{batch_id}/${action}`, { params: { path } }));
    }
  });
}

export async function steerTask(
  batchId: string,
  taskId: string,
  action: TaskAction,
  body: { agent?: string; text?: string } = {},
): Promise<boolean> {
  const params = { path: { batch_id: batchId, task_id: taskId } };
  return answered(`${ASKED[action]} ${taskId}`, () => {
    switch (action) {
      case "retry":
        return told(
          api.POST("/api/batches/{batch_id}/tasks/{task_id}/retry", {
            params,
            body: { agent: body.agent ?? null },
          }),
        );
      case "feedback":
        return told(
          api.POST("/api/batches/{batch_id}/tasks/{task_id}/feedback", {
            params,
            body: { text: body.text ?? "" },
          }),
        );
      default:
        return told(api.POST(`/api/batches/{batch_id}/tasks/{task_id}/${action}`, { params }));
    }
  });
}

async function answered(what: string, ask: () => Promise<Answered>): Promise<boolean> {
  try {
    const { results } = await ask();
    const refused = results.find(({ result }) => result === "refused");
    if (refused !== undefined) {
      sayError(new Error(refused.reason ?? "refused"), what);
      return false;
    }
    const waits = results.some(({ result }) => result === "accepted");
    say(waits ? `${what}: noted, and no engine has answered yet` : what);
    return true;
  } catch (error) {
    sayError(error);
    return false;
  }
}
