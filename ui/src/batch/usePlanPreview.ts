/* The plan of the batch that is about to start, refetched (debounced) when its options change. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError, api, unwrap } from "../api/client";
import type { Plan } from "../api/types";
import type { BatchBody } from "./runOptions";

const DEBOUNCE_MS = 250; // ms in which nothing was changed: while somebody types, nobody is asked

export interface PlanPreviewState {
  plan: Plan | undefined;
  error: unknown;
  /** What is shown is of an order that was changed since. */
  stale: boolean;
  retry(): void;
}

/** Of several questions under way the answer to the last one counts. */
export function usePlanPreview(body: BatchBody): PlanPreviewState {
  const current = JSON.stringify(body);
  const [requested, setRequested] = useState(current);
  useEffect(() => {
    const timer = window.setTimeout(() => setRequested(current), DEBOUNCE_MS);
    return () => window.clearTimeout(timer);
  }, [current]);
  const query = useQuery({
    queryKey: ["plan", requested],
    queryFn: ({ signal }) =>
      unwrap(api.POST("/api/plan", { signal, body: JSON.parse(requested) as BatchBody })),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  return {
    plan: query.data,
    error: query.error,
    stale: requested !== current || query.isPlaceholderData || (query.isFetching && query.isError),
    retry: () => void query.refetch(),
  };
}

/** What is wrong with which field, in the server's words. */
export function fieldErrors(error: unknown): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  if (!(error instanceof ApiError)) return errors;
  if (error.field !== null) errors.set(error.field, error.message);
  for (const { field, message } of error.problems) if (field !== null) errors.set(field, message);
  return errors;
}
