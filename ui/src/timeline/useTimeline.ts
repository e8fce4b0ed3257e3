import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";

/** What a batch went through, asked again whenever an event is about it. */
export function useTimeline(batchId: string) {
  return useQuery({
    queryKey: ["batch", batchId, "timeline"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/batches/{batch_id}/timeline", { signal, params: { path: { batch_id: batchId } } }),
      ),
  });
}
