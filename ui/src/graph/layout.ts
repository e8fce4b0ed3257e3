/* Layered layout of the graph: a column for each wave, a named band for each phase. dagre orders and aligns the
   tasks and the bends of edges; here they are moved together. Pure.

   Law: it depends on the plan only, so that nothing moves when only statuses change. */

import { layout as alignWithDagre, Graph as DagreGraph } from "@dagrejs/dagre";
import { groupBy } from "../model/groupBy";
import {
  boundingBox,
  COLUMN_WIDTH,
  type Layout,
  maxOf,
  minOf,
  NODE,
  type PhaseBand,
  type Point,
  type Shape,
} from "./geometry";

const TASK_HEIGHT = NODE.height + 14; // with the gap to the next one
const BEND_HEIGHT = 14; // px that an edge takes where it passes a wave
const BAND_PADDING = { side: 16, top: 38, bottom: 16 }; // between a phase's border and its tasks
const SLACK = 1.3; // height for aligned edges, as a multiple of the fullest column
const MAX_BENDS = 4000; // above this number, long edges are straight

export function layoutGraph(shape: Shape): Layout {
  const waveByTask = new Map(shape.waves.flatMap((ids, wave) => ids.map((id) => [id, wave] as const)));
  const { tasks, bends } = alignSlots(shape, waveByTask, assignLanes(shape, waveByTask));
  stackLanes([...tasks.values(), ...bends.flat()]);
  const places = new Map(
    [...tasks].map(([id, { wave, center }]) => [
      id,
      { x: wave * COLUMN_WIDTH, y: Math.round(center - NODE.height / 2) },
    ]),
  );
  return { places, bands: buildBands(shape, places), routes: buildRoutes(shape, places, bends) };
}

/** A place in a column, for a task or for an edge that passes it. */
interface Slot {
  readonly wave: number;
  readonly lane: number;
  readonly height: number;
  center: number;
}

/** Phases that follow one another, or tasks of none, share a lane; those that run at the same time are above one another. */
function assignLanes(shape: Shape, waveByTask: ReadonlyMap<string, number>): Map<string, number> {
  const inPhase = new Set(shape.phases.flatMap(({ tasks }) => tasks));
  const others = shape.waves.flat().filter((id) => !inPhase.has(id));
  const lastByLane: number[] = [];
  const laneByTask = new Map<string, number>();
  let lane = -1;
  // Tasks of no phase mostly come before phases: at the left of them, or above.
  for (const tasks of [others, ...shape.phases.map((phase) => phase.tasks)]) {
    const waves = tasks.flatMap((id) => waveByTask.get(id) ?? []);
    if (waves.length === 0) continue;
    const isFree = (at: number) => (lastByLane[at] ?? Number.POSITIVE_INFINITY) < minOf(waves);
    // Where the phase before it is, if it can: phases are read from left to right.
    lane = [lane, ...lastByLane.keys()].find(isFree) ?? lastByLane.length;
    lastByLane[lane] = maxOf(waves);
    for (const id of tasks) laneByTask.set(id, lane);
  }
  return laneByTask;
}

/** The slots as dagre aligns them, and the bends of each edge from left to right. */
function alignSlots(
  { waves, edges }: Shape,
  waveByTask: ReadonlyMap<string, number>,
  laneByTask: ReadonlyMap<string, number>,
): { tasks: ReadonlyMap<string, Slot>; bends: readonly Slot[][] } {
  const wave = (id: string) => waveByTask.get(id) ?? 0;
  const span = ({ from, to }: Shape["edges"][number]) => wave(to) - wave(from);
  const bendCount = edges.reduce((sum, edge) => sum + Math.max(0, span(edge) - 1), 0);
  const graph = new DagreGraph({ multigraph: true });
  graph.setGraph({
    rankdir: "LR",
    nodesep: TASK_HEIGHT - NODE.height,
    edgesep: BEND_HEIGHT,
    ranker: (ranked: DagreGraph) => {
      for (const id of ranked.nodes()) ranked.node(id).rank = 2 * wave(id); // dagre bends edges between columns, too
    },
  });
  for (const id of waves.flat()) graph.setNode(id, { ...NODE });
  edges.forEach((edge, at) => {
    if (span(edge) === 1 || (span(edge) > 1 && bendCount <= MAX_BENDS))
      graph.setEdge(edge.from, edge.to, {}, String(at));
  });
  alignWithDagre(graph);
  const slot = (id: string, at: number, height: number, center: number): Slot => ({
    wave: at,
    lane: laneByTask.get(id) ?? 0,
    height,
    center,
  });
  return {
    tasks: new Map(waves.flat().map((id) => [id, slot(id, wave(id), TASK_HEIGHT, graph.node(id).y)])),
    bends: edges.map(({ from, to }, at) => {
      const points: readonly Point[] = graph.edge(from, to, String(at))?.points ?? [];
      const inColumns = points.slice(1, -1).filter((_, place) => place % 2 === 1);
      return inColumns.map(({ y }, place) => slot(from, wave(from) + place + 1, BEND_HEIGHT, y));
    }),
  };
}

/** Moves the slots of each lane as close together as its fullest column allows, and the lanes below one another. */
function stackLanes(slots: readonly Slot[]): void {
  let top = 0;
  const lanes = groupBy(slots, ({ lane }) => lane);
  for (const [, mine] of [...lanes].sort(([a], [b]) => a - b)) {
    const columns = [...groupBy(mine, ({ wave }) => wave).values()];
    const highest = maxOf(columns.map((column) => sum(column.map(({ height }) => height))));
    const centers = mine.map(({ center }) => center);
    const scale = Math.min(1, (SLACK * highest) / (maxOf(centers) - minOf(centers) + TASK_HEIGHT));
    for (const column of columns) {
      column.sort((a, b) => a.center - b.center);
      const wanted = column.map(({ center }) => center * scale);
      const found = separate(
        wanted,
        column.map(({ height }) => height),
      );
      for (const [at, slot] of column.entries()) slot.center = found[at] ?? 0;
    }
    const shift = top - minOf(mine.map(({ center, height }) => center - height / 2));
    for (const slot of mine) slot.center += shift;
    top =
      maxOf(mine.map(({ center, height }) => center + height / 2)) + BAND_PADDING.top + BAND_PADDING.bottom;
  }
}

/**
 * Positions as near as possible to the wanted ones (least squares), without overlap and in the same order:
 * neighbours that would overlap become one block at the mean of their wanted positions.
 */
export function separate(wanted: readonly number[], heights: readonly number[]): number[] {
  let above = 0;
  const offsets = heights.map((height) => {
    above += height;
    return above - height / 2;
  });
  const blocks: { sum: number; count: number }[] = [];
  wanted.forEach((wish, at) => {
    let block = { sum: wish - (offsets[at] ?? 0), count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; ) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
      last = blocks.at(-1);
    }
    blocks.push(block);
  });
  const shifts = blocks.flatMap((block) => new Array<number>(block.count).fill(block.sum / block.count));
  return offsets.map((offset, at) => offset + (shifts[at] ?? 0));
}

function buildBands({ phases }: Shape, places: Layout["places"]): PhaseBand[] {
  return phases.flatMap(({ title, tasks }) => {
    const corners = tasks.flatMap((id) => places.get(id) ?? []);
    if (corners.length === 0) return [];
    const { x, y, width, height } = boundingBox(corners.map((corner) => ({ ...corner, ...NODE })));
    const { side, top, bottom } = BAND_PADDING;
    return [{ title, x: x - side, y: y - top, width: width + 2 * side, height: height + top + bottom }];
  });
}

/** Through the columns in between, an edge is horizontal. */
function buildRoutes({ edges }: Shape, places: Layout["places"], bends: readonly Slot[][]): Point[][] {
  return edges.map(({ from, to }, at) => {
    const [start, end] = [places.get(from), places.get(to)];
    if (start === undefined || end === undefined) return [];
    const middle = NODE.height / 2;
    const through = (bends[at] ?? []).flatMap(({ wave, center }) => [
      { x: wave * COLUMN_WIDTH, y: Math.round(center) },
      { x: wave * COLUMN_WIDTH + NODE.width, y: Math.round(center) },
    ]);
    const entry = start.x === end.x ? NODE.width : 0; // within a column, around its right side
    return [
      { x: start.x + NODE.width, y: start.y + middle },
      ...through,
      { x: end.x + entry, y: end.y + middle },
    ];
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}
