/* What links two tasks, and how people say it. Pure. */

import type { Graph } from "../api/types";

export const EDGE_KINDS = ["need", "chain", "entrant", "file"] as const;
/** A `file` is no need: whoever has it first, the other one waits. */
export type EdgeKind = (typeof EDGE_KINDS)[number];

export const EDGE_KIND_NAMES: Record<EdgeKind, string> = {
  need: "Need",
  chain: "Chain",
  entrant: "Entrant",
  file: "Shared file",
};

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  /** Why, as the plan says it; for a file, its name. */
  readonly reason: string;
  readonly at: string | null;
}

export function describeEdge({ from, to, kind, reason, at }: GraphEdge): string {
  const where = at === null || reason.includes(at) ? "" : ` (${at})`;
  switch (kind) {
    case "need":
      return `${to} needs ${from}: ${reason}${where}`;
    case "chain":
      return `${to} comes after ${from}: ${reason}${where}`;
    case "entrant":
      return `${to} waits for its entrant ${from}: ${reason}${where}`;
    case "file":
      return `${from} and ${to} touch ${reason}: they run one after the other`;
  }
}

/** Every edge, and for each file that several tasks touch a link from each of them to the next. */
export function listEdges({ edges, conflicts }: Pick<Graph, "edges" | "conflicts">): GraphEdge[] {
  const shared = conflicts.flatMap(({ file, tasks }) =>
    tasks
      .slice(1)
      .map((to, at) => ({ from: tasks[at] ?? to, to, kind: "file" as const, reason: file, at: null })),
  );
  return [...edges, ...shared];
}

/** Neighbours on the longest path. */
export function criticalEdgeTest(path: readonly string[]): (link: GraphEdge) => boolean {
  const next = new Map(path.slice(1).map((to, at) => [path[at], to]));
  return ({ from, to, kind }) => kind !== "file" && next.get(from) === to;
}
