/* The plan of the batch that is about to start, refetched (debounced) when its options change. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError, api, unwrap } from "../api/client";
import type { Plan } from "../api/types";
import type { BatchBody } from "./runOptions";

const DEBOUNCE_MS = 250; // ms without a change before a request is sent

export interface PlanPreviewState {
  plan: Plan | undefined;
  error: unknown;
  /** The shown plan is outdated: options changed since. */
  stale: boolean;
  retry(): void;
}

/** Of several requests in progress, only the last response counts. */
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

/** The server's error messages by field. */
export function fieldErrors(error: unknown): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  if (!(error instanceof ApiError)) return errors;
  if (error.field !== null) errors.set(error.field, error.message);
  for (const { field, message } of error.problems) if (field !== null) errors.set(field, message);
  return errors;
}
