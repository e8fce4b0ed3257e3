/* Server queries that several views share. */

import { useQuery } from "@tanstack/react-query";
import type { RunRef } from "../task/selectedTask";
import { ApiError, api, unwrap } from "./client";
import type { BatchSummary, BatchTask } from "./types";

interface TaskInBatch {
  readonly batch: BatchSummary;
  readonly task: BatchTask;
}

const NO_RUN: RunRef = { batchId: "", taskId: "" };

/** Refetched after every event of the batch: why a task waits depends on other tasks. */
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

/** Refetched after every event of the batch, as the explanation is. */
export function useConversation({ batchId, taskId }: RunRef) {
  return useQuery({
    queryKey: ["batch", batchId, "conversation", taskId],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/batches/{batch_id}/tasks/{task_id}/conversation", {
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

const SOURCE_POLL_MS = 15_000; // ms: sources are files, and no event tells when they change

/** A task with its text. */
export function useTaskDetail(id: string | undefined) {
  return useQuery({
    queryKey: ["tasks", id ?? ""],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/tasks/{task_id}", { signal, params: { path: { task_id: id ?? "" } } })),
    refetchInterval: SOURCE_POLL_MS,
  });
}

/** BATCH, refetched after every event of the batch; `null` fetches nothing. */
export function useBatch(batchId: string | null) {
  return useQuery({
    queryKey: ["batch", batchId],
    queryFn: () =>
      unwrap(api.GET("/api/batches/{batch_id}", { params: { path: { batch_id: batchId ?? "" } } })),
    enabled: batchId !== null,
  });
}

/** The timeline of a batch, refetched after every event of the batch. */
export function useTimeline(batchId: string) {
  return useQuery({
    queryKey: ["batch", batchId, "timeline"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/batches/{batch_id}/timeline", { signal, params: { path: { batch_id: batchId } } }),
      ),
  });
}

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/agents", { signal })),
  });
}
