/* The graph as React Flow draws it. What did not change keeps its identity, so that nothing is drawn twice. */

import type { Node } from "@xyflow/react";
import type { Graph } from "../api/types";
import { critical, type Kind, linksOf, sentence } from "./kinds";
import { type Layout, NODE, type Point } from "./layout";

export type GraphNode = Graph["nodes"][number];
export type TaskElement = Node<{ node: GraphNode; critical: boolean }, "task">;
export type WaveElement = Node<{ wave: number; tasks: number }, "wave">;

/** What is drawn between two tasks. */
export interface Line {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: Kind;
  readonly critical: boolean;
  readonly path: string;
  readonly end: Point;
  readonly words: string;
}

export type Known = WeakMap<GraphNode, TaskElement>;

const HEAD = { height: 22, gap: 12 };
/** `known` are those of before, in the same layout. */
export function tasksOf(graph: Graph, { places }: Layout, known: Known): TaskElement[] {
  const path = new Set(graph.criticalPath);
  return graph.nodes.flatMap((node) => {
    const position = places.get(node.taskId);
    if (position === undefined) return [];
    const found = known.get(node) ?? {
      id: node.taskId,
      type: "task",
      position,
      data: { node, critical: path.has(node.taskId) },
      width: NODE.width,
      height: NODE.height,
      measured: NODE,
      handles: [],
    };
    known.set(node, found);
    return [found];
  });
}

export function wavesOf({ bands, places }: Layout, waves: readonly (readonly string[])[]): WaveElement[] {
  const top = Math.min(...[...places.values()].map(({ y }) => y));
  return bands.map(({ wave, x, width }) => {
    const size = { width, height: HEAD.height };
    const position = { x, y: top - HEAD.height - HEAD.gap };
    const data = { wave, tasks: waves[wave - 1]?.length ?? 0 };
    return { id: `wave ${wave}`, type: "wave", position, data, ...size, measured: size, handles: [] };
  });
}

export function linesOf(graph: Pick<Graph, "edges" | "conflicts" | "criticalPath">, layout: Layout): Line[] {
  const longest = critical(graph.criticalPath);
  const found = linksOf(graph).flatMap((link, at) => {
    const { from, to, kind, reason } = link;
    const route = kind === "file" ? aside(layout.places.get(from), layout.places.get(to)) : layout.routes[at];
    const end = route?.at(-1);
    if (route === undefined || end === undefined || route.length < 2) return [];
    const id = `${kind} ${from} ${to} ${reason}`;
    return [{ id, from, to, kind, critical: longest(link), path: curve(route), end, words: sentence(link) }];
  });
  return found.sort((a, b) => Number(a.critical) - Number(b.critical)); // the longest path is drawn over the others
}

/** From side to side; of two in one column, around their right. */
function aside(one: Point | undefined, other: Point | undefined): Point[] {
  if (one === undefined || other === undefined) return [];
  const [left, right] = one.x <= other.x ? [one, other] : [other, one];
  const far = left.x === right.x ? NODE.width : 0;
  const down = NODE.height / 2 + 8; // beside the lines of needs, which meet the middle
  return [
    { x: left.x + NODE.width, y: left.y + down },
    { x: right.x + far, y: right.y + down },
  ];
}

/** Level where it begins, bends and ends. */
function curve(points: readonly Point[]): string {
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
