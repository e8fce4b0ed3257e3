/* What a batch would be, asked for anew whenever something about it is changed. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, Refused, told } from "../api/client";
import type { Plan } from "../api/types";
import type { Body } from "./order";

const PAUSE = 250; // ms in which nothing was changed: while somebody types, nobody is asked

export interface Preview {
  plan: Plan | undefined;
  error: unknown;
  /** What is shown is of an order that was changed since. */
  stale: boolean;
  again(): void;
}

/** Of several questions under way the answer to the last one counts. */
export function usePlan(body: Body): Preview {
  const said = JSON.stringify(body);
  const [asked, setAsked] = useState(said);
  useEffect(() => {
    const timer = window.setTimeout(() => setAsked(said), PAUSE);
    return () => window.clearTimeout(timer);
  }, [said]);
  const query = useQuery({
    queryKey: ["plan", asked],
    queryFn: ({ signal }) => told(api.POST("/api/plan", { signal, body: JSON.parse(asked) as Body })),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  return {
    plan: query.data,
    error: query.error,
    stale: asked !== said || query.isPlaceholderData || (query.isFetching && query.isError),
    again: () => void query.refetch(),
  };
}

/** What is wrong with which field, in the server's words. */
export function fieldErrors(error: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!(error instanceof Refused)) return found;
  if (error.field !== null) found.set(error.field, error.message);
  for (const { field, message } of error.problems) if (field !== null) found.set(field, message);
  return found;
}
