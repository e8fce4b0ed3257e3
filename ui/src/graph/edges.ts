/* The edges of a graph: kinds, texts and routes. Pure. */

import type { Graph } from "../api/types";
import { spellOutBidi } from "../model/format";
import type { Layout, Point } from "./geometry";

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
  { routes }: Layout,
): EdgeRoute[] {
  const isCritical = criticalEdgeTest(graph.criticalPath);
  const found = listEdges(graph).flatMap((link, at) => {
    const { from, to, kind, reason } = link;
    const route = routes[at] ?? [];
    if (route.length < 2) return [];
    const id = `${kind} ${from} ${to} ${reason}`;
    return [
      {
        id,
        from,
        to,
        kind,
        critical: isCritical(link),
        route: beside(route, kind),
        label: describeEdge(link),
      },
    ];
  });
  return found.sort((a, b) => Number(a.critical) - Number(b.critical)); // the longest path is drawn over the others
}

/** A shared file begins and ends below the dependencies, which do at the middle. */
function beside(route: readonly Point[], kind: EdgeKind): readonly Point[] {
  if (kind !== "file") return route;
  return route.map(({ x, y }, at) => ({ x, y: at === 0 || at === route.length - 1 ? y + 8 : y }));
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

export function describeEdge({ from, to, kind, reason: text, at }: GraphEdge): string {
  const reason = spellOutBidi(text);
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
