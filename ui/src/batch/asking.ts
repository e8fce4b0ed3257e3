/* What a batch wants of a person, as the page knows it now. */

import { useQuery } from "@tanstack/react-query";
import { useShallow } from "zustand/react/shallow";
import { api, told } from "../api/client";
import type { BatchHead } from "../api/types";
import { useBoard } from "../store/board";
import { ASKS_NOTHING, type Asked, askedBy, askedOf, isOpen } from "./watching";

/** Entrants of a contest and tasks that are in no source any more are not on the board: of a queue in which nobody is known
    to wait and nobody runs, the batch itself is asked. */
export function useAsked(head: BatchHead): Asked {
  const known = useBoard(
    useShallow((store) => ({ ...ASKS_NOTHING, ...askedBy(store.board.tasks).get(head.id) })),
  );
  const waits = useBoard((store) => askedBy(store.board.tasks).has(head.id));
  const { running, queued, waiting } = head.progress;
  const unknown = head.status === "paused" ? !waits : head.mode === "queue" && known.approval === null;
  const silent = unknown && running === 0 && queued + waiting > 0;
  const { data } = useQuery({
    queryKey: ["batch", head.id, "asked"],
    queryFn: ({ signal }) => waitingOnes(head.id, signal),
    enabled: isOpen(head) && silent,
  });
  return silent && data !== undefined ? data : known;
}

async function waitingOnes(batchId: string, signal: AbortSignal): Promise<Asked> {
  const path = { batch_id: batchId };
  const { tasks } = await told(api.GET("/api/batches/{batch_id}", { signal, params: { path } }));
  const open = { batchId, shipped: false, review: false };
  return askedOf(tasks.filter((task) => task.waiting !== null).map((task) => ({ ...task, ...open })));
}
