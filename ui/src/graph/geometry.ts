/* What goes into a layout of the graph and what comes out of it: the plan's shape, sizes and rectangles. Pure. */

import type { Graph } from "../api/types";
import { spellOutBidi } from "../model/format";
import { listEdges } from "./edges";

export const NODE = { width: 216, height: 54 };
export const COLUMN_WIDTH = NODE.width + 96;
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Rect extends Point {
  readonly width: number;
  readonly height: number;
}

/** The rectangle around the tasks of a phase, which no other task is in. */
export interface PhaseBand extends Rect {
  readonly title: string;
}

/** The input of a layout. */
export interface Shape {
  readonly waves: readonly (readonly string[])[];
  /** The tasks of each phase. */
  readonly phases: readonly { readonly title: string; readonly tasks: readonly string[] }[];
  /** From a wave to a later one, or between tasks of one wave. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

export interface Layout {
  /** The upper left corner of each task. */
  readonly places: ReadonlyMap<string, Point>;
  readonly bands: readonly PhaseBand[];
  /** For each edge, in order: the points on its line from left to right. */
  readonly routes: readonly (readonly Point[])[];
}

type Plan = Pick<Graph, "waves" | "edges" | "conflicts" | "nodes" | "phases">;

export function graphShape({ waves, edges, conflicts, nodes, phases }: Plan): Shape {
  const wave = new Map(nodes.map((node) => [node.taskId, node.wave]));
  const isForward = ({ from, to }: { from: string; to: string }) =>
    (wave.get(from) ?? 0) <= (wave.get(to) ?? 0);
  return {
    waves,
    phases: phases.map(({ key, title }) => ({
      title: spellOutBidi(title),
      tasks: nodes.filter(({ phase }) => phase === key).map(({ taskId }) => taskId),
    })),
    edges: listEdges({ edges, conflicts }).map((edge) =>
      isForward(edge) ? { from: edge.from, to: edge.to } : { from: edge.to, to: edge.from },
    ),
  };
}

export function boundingBox(rects: readonly Rect[]): Rect {
  const [x, y] = [minOf(rects.map((rect) => rect.x)), minOf(rects.map((rect) => rect.y))];
  const right = maxOf(rects.map((rect) => rect.x + rect.width));
  const bottom = maxOf(rects.map((rect) => rect.y + rect.height));
  return { x, y, width: right - x, height: bottom - y };
}

export function minOf(values: readonly number[]): number {
  return values.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
}

export function maxOf(values: readonly number[]): number {
  return values.reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY);
}
