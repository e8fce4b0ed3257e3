/* Shipping: what the pull request would say, what a person makes of it, and what became of asking for it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../api/client";
import { say } from "../parts/Toasts";
import { keepWording, keptWording, type Publish, toSend, type Wording } from "./wording";

export function usePullRequest(batchId: string) {
  return useQuery({
    queryKey: ["batch", batchId, "pr"],
    queryFn: () => told(api.GET("/api/batches/{batch_id}/pr", { params: { path: { batch_id: batchId } } })),
    placeholderData: (before) => before,
  });
}

export function useWording(batchId: string): [Wording, (draft: Wording) => void] {
  const [draft, setDraft] = useState<Wording>(() => keptWording(batchId));
  return [
    draft,
    (next) => {
      keepWording(batchId, next);
      setDraft(next);
    },
  ];
}

/** Asks for it, with the words that were written; they are the server's to keep then. */
export function useShip(batchId: string, draft: Wording, setDraft: (draft: Wording) => void) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const ship = async (publish: Publish, now: Parameters<typeof toSend>[1]) => {
    setBusy(true);
    setError(null);
    try {
      const words = publish === "push" ? {} : toSend(draft, now);
      const answer = await told(
        api.POST("/api/batches/{batch_id}/pr", {
          params: { path: { batch_id: batchId } },
          body: { publish, ...words },
        }),
      );
      if (answer.results.some(({ result }) => result === "accepted"))
        say("Noted: no engine has answered yet");
      await client.invalidateQueries({ queryKey: ["batch", batchId] });
      if (publish !== "push") setDraft({});
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, ship };
}
