import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";

/** BATCH, asked again whenever an event is about it; `null` asks for nothing. */
export function useBatch(batchId: string | null) {
  return useQuery({
    queryKey: ["batch", batchId],
    queryFn: () =>
      unwrap(api.GET("/api/batches/{batch_id}", { params: { path: { batch_id: batchId ?? "" } } })),
    enabled: batchId !== null,
  });
}
