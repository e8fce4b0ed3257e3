/* What is asked of the server about one run: why it is where it is, and what its batch says of it. */

import { useQuery } from "@tanstack/react-query";
import { api, Refused, told } from "../api/client";
import type { BatchHead, BatchTask } from "../api/types";
import type { RunName } from "./subject";

export interface InBatch {
  readonly head: BatchHead;
  readonly task: BatchTask;
}

const NO_RUN: RunName = { batchId: "", taskId: "" };

/** Asked again whatever happens in the batch: why a task waits is a matter of the others. */
export function useExplanation(run: RunName | null) {
  const { batchId, taskId } = run ?? NO_RUN;
  return useQuery({
    queryKey: ["batch", batchId, "explain", taskId],
    enabled: run !== null,
    queryFn: ({ signal }) =>
      told(
        api.GET("/api/batches/{batch_id}/tasks/{task_id}/explain", {
          signal,
          params: { path: { batch_id: batchId, task_id: taskId } },
        }),
      ),
  });
}

export function useInBatch(run: RunName | null) {
  const { batchId, taskId } = run ?? NO_RUN;
  return useQuery({
    queryKey: ["task", batchId, taskId, "batch"],
    enabled: run !== null,
    queryFn: async ({ signal }): Promise<InBatch> => {
      const path = { batch_id: batchId };
      const { tasks, ...head } = await told(api.GET("/api/batches/{batch_id}", { signal, params: { path } }));
      const task = tasks.find((each) => each.taskId === taskId);
      if (task === undefined) throw new Refused(404, { error: `batch ${batchId} has no task ${taskId}` });
      return { head, task };
    },
  });
}

const READ = 15_000; // ms: sources are files, and nobody tells when they change

/** With its text. */
export function useWholeTask(id: string | undefined) {
  return useQuery({
    queryKey: ["tasks", id ?? ""],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      told(api.GET("/api/tasks/{task_id}", { signal, params: { path: { task_id: id ?? "" } } })),
    refetchInterval: READ,
  });
}
