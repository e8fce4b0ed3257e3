/* The query client of the views.

   ["batch", id, …] is refetched when anything in that batch changed, ["task", batch, task, …] when that task did, and
   ["tasks", id] when the sources were read again. Other keys are refetched when the window gets the focus. */

import { QueryClient } from "@tanstack/react-query";
import type { DrainedTasks } from "./dirtyTasks";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5_000, retry: false, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
});

export function invalidateChanged({
  batches,
  everything,
}: Pick<DrainedTasks, "batches" | "everything">): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [about, batch, task] }) => {
      if (about !== "batch" && about !== "task") return false;
      const tasks = batches.get(String(batch));
      if (tasks === undefined) return everything;
      return about === "batch" || tasks.size === 0 || tasks.has(String(task));
    },
  });
}
