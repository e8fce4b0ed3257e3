/* Server queries that several views share. */

import { useQuery } from "@tanstack/react-query";
import type { RunRef } from "../task/selectedTask";
import { ApiError, api, unwrap } from "./client";
import type { BatchSummary, BatchTask, EngineStatus } from "./types";

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

const ENGINE_POLL_MS = 5_000; // ms; neither its problems nor the cluster's nodes are in events

/** The engine, or `null` if none is running. */
export function useEngine<T>(enabled: boolean, select: (engine: EngineStatus | null) => T) {
  return useQuery({
    queryKey: ["engine"],
    queryFn: async ({ signal }) => {
      const query = { limit: 1, tasks: false };
      return (await unwrap(api.GET("/api/batches", { signal, params: { query } }))).engine;
    },
    select,
    refetchInterval: ENGINE_POLL_MS,
    enabled,
  });
}

/** A task with its text, refetched whenever the sources are read again. */
export function useTaskDetail(id: string | undefined) {
  return useQuery({
    queryKey: ["tasks", id ?? ""],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/tasks/{task_id}", { signal, params: { path: { task_id: id ?? "" } } })),
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

/** What the merged tasks changed; `head`, the newest commit of the branch, says of which ones. */
export function useMergedChanges(batchId: string, head: string | null) {
  return useQuery({
    queryKey: ["changes", batchId, head],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/batches/{batch_id}/changes", { signal, params: { path: { batch_id: batchId } } })),
    enabled: head !== null,
    placeholderData: (before, query) => (query?.queryKey[1] === batchId ? before : undefined),
    retry: false, // of an old batch git may not have the commits any more
  });
}

/** The declaration of each setting: it changes only with the server. */
export function useSettingSchema() {
  return useQuery({
    queryKey: ["settings", "schema"],
    queryFn: () => unwrap(api.GET("/api/settings/schema")),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useProjects() {
  return useQuery({
    queryKey: ["projects"],
    queryFn: async ({ signal }) => (await unwrap(api.GET("/api/projects", { signal }))).projects,
    staleTime: 60_000,
  });
}

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/agents", { signal })),
  });
}
