import { useQuery } from "@tanstack/react-query";
import { api, told } from "../api/client";

/** What a batch went through, asked again whenever an event is about it. */
export function useTimeline(batchId: string) {
  return useQuery({
    queryKey: ["batch", batchId, "timeline"],
    queryFn: ({ signal }) =>
      told(api.GET("/api/batches/{batch_id}/timeline", { signal, params: { path: { batch_id: batchId } } })),
  });
}
