/* What a batch wants of a person, as the page knows it now. */

import { useQuery } from "@tanstack/react-query";
import { useShallow } from "zustand/react/shallow";
import { api, unwrap } from "../api/client";
import type { BatchSummary } from "../api/types";
import { useBoard } from "../store/board";
import { type BatchPrompt, collectPrompt, isOpen, NO_PROMPT, promptsByBatch } from "./watching";

/** Entrants of a contest and tasks that are in no source any more are not on the board: of a queue in which nobody is known
    to wait and nobody runs, the batch itself is asked. */
export function useBatchPrompt(batch: BatchSummary): BatchPrompt {
  const known = useBoard(
    useShallow((store) => ({ ...NO_PROMPT, ...promptsByBatch(store.board.tasks).get(batch.id) })),
  );
  const hasWaiting = useBoard((store) => promptsByBatch(store.board.tasks).has(batch.id));
  const { running, queued, waiting } = batch.progress;
  const unknown = batch.status === "paused" ? !hasWaiting : batch.mode === "queue" && known.approval === null;
  const shouldAsk = unknown && running === 0 && queued + waiting > 0;
  const { data } = useQuery({
    queryKey: ["batch", batch.id, "asked"],
    queryFn: ({ signal }) => fetchPrompt(batch.id, signal),
    enabled: isOpen(batch) && shouldAsk,
  });
  return shouldAsk && data !== undefined ? data : known;
}

async function fetchPrompt(batchId: string, signal: AbortSignal): Promise<BatchPrompt> {
  const path = { batch_id: batchId };
  const { tasks } = await unwrap(api.GET("/api/batches/{batch_id}", { signal, params: { path } }));
  const open = { batchId, shipped: false, review: false };
  return collectPrompt(tasks.filter((task) => task.waiting !== null).map((task) => ({ ...task, ...open })));
}
