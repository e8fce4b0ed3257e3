/* Shipping: what the pull request would say, what a person makes of it, and what became of asking for it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import { showToast } from "../parts/Toasts";
import {
  changedText,
  loadPullRequestDraft,
  type Publish,
  type PullRequestDraft,
  savePullRequestDraft,
} from "./wording";

export function usePullRequest(batchId: string) {
  return useQuery({
    queryKey: ["batch", batchId, "pr"],
    queryFn: () => unwrap(api.GET("/api/batches/{batch_id}/pr", { params: { path: { batch_id: batchId } } })),
    placeholderData: (before) => before,
  });
}

export function usePullRequestDraft(batchId: string): [PullRequestDraft, (draft: PullRequestDraft) => void] {
  const [draft, setDraft] = useState<PullRequestDraft>(() => loadPullRequestDraft(batchId));
  return [
    draft,
    (next) => {
      savePullRequestDraft(batchId, next);
      setDraft(next);
    },
  ];
}

/** Asks for it, with the words that were written; they are the server's to keep then. */
export function useShip(
  batchId: string,
  draft: PullRequestDraft,
  setDraft: (draft: PullRequestDraft) => void,
) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const ship = async (publish: Publish, now: Parameters<typeof changedText>[1]) => {
    setBusy(true);
    setError(null);
    try {
      const words = publish === "push" ? {} : changedText(draft, now);
      const answer = await unwrap(
        api.POST("/api/batches/{batch_id}/pr", {
          params: { path: { batch_id: batchId } },
          body: { publish, ...words },
        }),
      );
      if (answer.results.some(({ result }) => result === "accepted"))
        showToast("Noted: no engine has answered yet");
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
