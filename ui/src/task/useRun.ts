/* What is asked of the server about one run: why it is where it is, and what its batch says of it. */

import { useQuery } from "@tanstack/react-query";
import { ApiError, api, unwrap } from "../api/client";
import type { BatchSummary, BatchTask } from "../api/types";
import type { RunRef } from "./subject";

export interface TaskInBatch {
  readonly batch: BatchSummary;
  readonly task: BatchTask;
}

const NO_RUN: RunRef = { batchId: "", taskId: "" };

/** Asked again whatever happens in the batch: why a task waits is a matter of the others. */
export function useExplanation(run: RunRef | null) {
  const { batchId, taskId } = run ?? NO_RUN;
  return useQuery({
    queryKey: ["batch", batchId, "explain", taskId],
    enabled: run !== null,
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/batches/{batch_id}/tasks/{task_id}/explain", {
          signal,
          params: { path: { batch_id: batchId, task_id: taskId } },
        }),
      ),
  });
}

export function useTaskInBatch(run: RunRef | null) {
  const { batchId, taskId } = run ?? NO_RUN;
  return useQuery({
    queryKey: ["task", batchId, taskId, "batch"],
    enabled: run !== null,
    queryFn: async ({ signal }): Promise<TaskInBatch> => {
      const path = { batch_id: batchId };
      const { tasks, ...batch } = await unwrap(
        api.GET("/api/batches/{batch_id}", { signal, params: { path } }),
      );
      const task = tasks.find((each) => each.taskId === taskId);
      if (task === undefined) throw new ApiError(404, { error: `batch ${batchId} has no task ${taskId}` });
      return { batch, task };
    },
  });
}

const SOURCE_POLL_MS = 15_000; // ms: sources are files, and nobody tells when they change

/** With its text. */
export function useTaskDetail(id: string | undefined) {
  return useQuery({
    queryKey: ["tasks", id ?? ""],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/tasks/{task_id}", { signal, params: { path: { task_id: id ?? "" } } })),
    refetchInterval: SOURCE_POLL_MS,
  });
}
