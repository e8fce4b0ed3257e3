import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import { isOpen } from "../batch/watching";
import { useBoard } from "../store/board";

const ENGINE_POLL_MS = 5_000; // ms; an engine that can't write its journal can't send an event

/** What keeps the engine from going on, while something is to be done; null if nothing does. */
export function useEngineProblem(): string | null {
  const busy = useBoard(
    ({ board, connection }) => connection === "live" && [...board.batches.values()].some(isOpen),
  );
  const { data } = useQuery({
    queryKey: ["engine"],
    queryFn: async ({ signal }) => {
      const query = { limit: 1, tasks: false };
      const { engine } = await unwrap(api.GET("/api/batches", { signal, params: { query } }));
      return engine?.trouble ?? null;
    },
    refetchInterval: ENGINE_POLL_MS,
    enabled: busy,
  });
  return busy ? (data ?? null) : null;
}
