/* Who can work here: one answer for all who ask, since every agent is asked for its version. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "./client";

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: async ({ signal }) => (await unwrap(api.GET("/api/agents", { signal }))).agents,
  });
}
