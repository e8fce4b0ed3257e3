/* The edges of a graph: kinds, texts and routes. Pure. */

import type { Graph } from "../api/types";
import { type Layout, NODE, type Point } from "./layout";

export type GraphNode = Graph["nodes"][number];

/** The text between the two task names. */
export interface EdgeRoute {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  readonly critical: boolean;
  readonly route: readonly Point[];
  readonly label: string;
}

export function routeEdges(
  graph: Pick<Graph, "edges" | "conflicts" | "criticalPath">,
  layout: Layout,
): EdgeRoute[] {
  const isCritical = criticalEdgeTest(graph.criticalPath);
  const routes = listEdges(graph).flatMap((link, at) => {
    const { from, to, kind, reason } = link;
    const route =
      kind === "file" ? fileEdgeRoute(layout.places.get(from), layout.places.get(to)) : layout.routes[at];
    if (route === undefined || route.length < 2) return [];
    const id = `${kind} ${from} ${to} ${reason}`;
    return [{ id, from, to, kind, critical: isCritical(link), route, label: describeEdge(link) }];
  });
  return routes.sort((a, b) => Number(a.critical) - Number(b.critical)); // the longest path is drawn over the others
}

/** Left to right; between tasks of one column, around their right side. */
function fileEdgeRoute(one: Point | undefined, other: Point | undefined): Point[] {
  if (one === undefined || other === undefined) return [];
  const [left, right] = one.x <= other.x ? [one, other] : [other, one];
  const far = left.x === right.x ? NODE.width : 0;
  const down = NODE.height / 2 + 8; // beside dependency edges, which end at the middle
  return [
    { x: left.x + NODE.width, y: left.y + down },
    { x: right.x + far, y: right.y + down },
  ];
}

/** Horizontal at its start, bends and end. */
export function edgePath(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined) return "";
  let at = first;
  const parts = others.map((to) => {
    const reach = to.x === at.x ? 40 : (to.x - at.x) / 2;
    const back = to.x === at.x ? to.x + reach : to.x - reach;
    const part = `C${at.x + reach} ${at.y} ${back} ${to.y} ${to.x} ${to.y}`;
    at = to;
    return part;
  });
  return `M${first.x} ${first.y}${parts.join("")}`;
}

export const EDGE_KINDS = ["need", "chain", "entrant", "file"] as const;
/** A `file` edge is not a need: the tasks exclude each other. */
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
  /** The reason from the plan; for a file, its name. */
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

/** All edges, and for each shared file a link from each of its tasks to the next. */
export function listEdges({ edges, conflicts }: Pick<Graph, "edges" | "conflicts">): GraphEdge[] {
  const shared = conflicts.flatMap(({ file, tasks }) =>
    tasks
      .slice(1)
      .map((to, at) => ({ from: tasks[at] ?? to, to, kind: "file" as const, reason: file, at: null })),
  );
  return [...edges, ...shared];
}

/** Adjacent tasks on the longest path. */
function criticalEdgeTest(path: readonly string[]): (link: GraphEdge) => boolean {
  const next = new Map(path.slice(1).map((to, at) => [path[at], to]));
  return ({ from, to, kind }) => kind !== "file" && next.get(from) === to;
}
