/* Layered layout of the graph: a band for each wave, from left to right. Pure.

   Law: it depends on waves and edges only, so that nothing moves when only statuses change. */

import type { Graph } from "../api/types";

export const NODE = { width: 216, height: 54 };
export const HEADING = { height: 22, gap: 12 }; // height of a wave's header
const GAP = { column: 28, row: 14, band: 96 };
const BEND_HEIGHT = 12; // px that an edge takes where it passes a wave
const MIN_ROWS = 14;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The position of a wave; its header is at the upper left corner. */
export interface Band extends Point {
  readonly wave: number;
  readonly width: number;
}

/** The input of a layout. */
export interface Shape {
  readonly waves: readonly (readonly string[])[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

export interface Layout {
  /** The upper left corner of each task. */
  readonly places: ReadonlyMap<string, Point>;
  readonly bands: readonly Band[];
  /** For each edge, in order: the points on its line. */
  readonly routes: readonly (readonly Point[])[];
}

export function graphShape({ waves, edges }: Pick<Graph, "waves" | "edges">): Shape {
  return { waves, edges: edges.map(({ from, to }) => ({ from, to })) };
}

export function layoutGraph({ waves, edges }: Shape): Layout {
  const ids = waves.flat();
  const index = new Map(ids.map((id, at) => [id, at]));
  const layer = waves.flatMap((wave, at) => wave.map(() => at));
  const known = (id: string) => index.get(id) ?? -1;
  const layers = orderLayers(
    layer,
    edges.map(({ from, to }) => [known(from), known(to)] as const),
  );
  const rows = Math.max(MIN_ROWS, Math.ceil(Math.sqrt(ids.length / 0.43))); // about as wide as it is high
  const grids = layers.order.map((vertices) => buildGrid(vertices, layers.tasks, rows));
  const height = (vertex: number) => (vertex < layers.tasks ? NODE.height + GAP.row : BEND_HEIGHT);
  const middles = grids.map((grid) => grid.centers);
  const context = {
    layers,
    grids,
    bands: buildBands(grids),
    centers: placeVertices(layers, height, middles),
  };
  const places = placeTasks(ids, context);
  return { places, bands: withHeadings(context.bands, places), routes: buildRoutes(edges, places, context) };
}

/** The columns of a wave, from left to right. */
type BandSpan = Omit<Band, "y">;

interface LayoutContext {
  readonly layers: Layers;
  readonly grids: readonly Grid[];
  readonly bands: readonly BandSpan[];
  readonly centers: Float64Array;
}

/** A wave that is too high for one column is split into several. */
interface Grid {
  readonly columns: number;
  readonly column: ReadonlyMap<number, number>;
  readonly centers: readonly number[] | null;
}

function buildGrid(vertices: readonly number[], tasks: number, rows: number): Grid {
  const ownTasks = vertices.filter((vertex) => vertex < tasks);
  if (ownTasks.length <= rows) return { columns: 1, column: new Map(), centers: null };
  const columns = Math.ceil(ownTasks.length / rows);
  const rowCount = Math.ceil(ownTasks.length / columns);
  const steps = stackCenters(new Array<number>(rowCount).fill(NODE.height + GAP.row));
  const row = new Map(ownTasks.map((vertex, at) => [vertex, steps[at % rowCount] ?? 0]));
  const column = new Map(ownTasks.map((vertex, at) => [vertex, Math.floor(at / rowCount)]));
  return { columns, column, centers: vertices.map((vertex) => row.get(vertex) ?? 0) };
}

function buildBands(grids: readonly Grid[]): BandSpan[] {
  let x = 0;
  return grids.map(({ columns }, at) => {
    const width = columns * (NODE.width + GAP.column) - GAP.column;
    const band = { wave: at + 1, x, width };
    x += width + GAP.band;
    return band;
  });
}

function withHeadings(bands: readonly BandSpan[], places: ReadonlyMap<string, Point>): Band[] {
  const top = Math.min(...[...places.values()].map(({ y }) => y));
  return bands.map((band) => ({ ...band, y: top - HEADING.height - HEADING.gap }));
}

function placeTasks(
  ids: readonly string[],
  { layers, grids, bands, centers }: LayoutContext,
): Map<string, Point> {
  const places = new Map<string, Point>();
  layers.order.forEach((vertices, layer) => {
    for (const vertex of vertices) {
      const id = vertex < layers.tasks ? ids[vertex] : undefined;
      if (id === undefined) continue;
      const column = grids[layer]?.column.get(vertex) ?? 0;
      const x = (bands[layer]?.x ?? 0) + column * (NODE.width + GAP.column);
      places.set(id, { x, y: Math.round((centers[vertex] ?? 0) - NODE.height / 2) });
    }
  });
  return places;
}

function buildRoutes(
  edges: Shape["edges"],
  places: ReadonlyMap<string, Point>,
  context: LayoutContext,
): Point[][] {
  const { layers, grids, bands, centers } = context;
  const layerOf = new Map(
    layers.order.flatMap((all, layer) => all.map((vertex) => [vertex, layer] as const)),
  );
  const through = (vertex: number): Point[] => {
    const layer = layerOf.get(vertex) ?? 0;
    const band = bands[layer];
    if (band === undefined || grids[layer]?.centers) return []; // edges can't pass between the columns of a grid
    const y = Math.round(centers[vertex] ?? 0);
    return [
      { x: band.x, y },
      { x: band.x + band.width, y },
    ];
  };
  return edges.map(({ from, to }, at) => {
    const bends = (layers.bends[at] ?? []).flatMap(through);
    return [...sidePoint(places.get(from), NODE.width), ...bends, ...sidePoint(places.get(to), 0)];
  });
}

function sidePoint(place: Point | undefined, right: number): Point[] {
  return place === undefined ? [] : [{ x: place.x + right, y: place.y + NODE.height / 2 }];
}

interface Layers {
  /** Vertices by layer, from top to bottom. Those below `tasks` are tasks, the others bends. */
  readonly order: readonly (readonly number[])[];
  readonly tasks: number;
  readonly before: readonly (readonly number[])[];
  readonly after: readonly (readonly number[])[];
  /** The bends of each edge, left to right. */
  readonly bends: readonly (readonly number[])[];
}

const ORDER_SWEEPS = 12;
const MAX_VAIN_SWEEPS = 3; // sweeps without improvement before it stops
const MAX_BENDS = 6000; // above this number, long edges are straight

/** `layer` of each task, and edges as pairs of tasks that lead to a later layer. */
export function orderLayers(layer: readonly number[], edges: readonly (readonly [number, number])[]): Layers {
  const start = insertBends(layer, edges);
  let best = start.order;
  let fewest = countCrossings(best, start.after);
  let order = best;
  let vain = 0;
  for (let sweep = 0; sweep < ORDER_SWEEPS && fewest > 0 && vain < MAX_VAIN_SWEEPS; sweep += 1) {
    order = sweep % 2 === 0 ? sweepLayers(order, start.before, false) : sweepLayers(order, start.after, true);
    const found = countCrossings(order, start.after);
    vain = found < fewest ? 0 : vain + 1;
    if (found < fewest) [best, fewest] = [order, found];
  }
  return { ...start, order: best };
}

function insertBends(layer: readonly number[], edges: readonly (readonly [number, number])[]): Layers {
  const order: number[][] = Array.from({ length: Math.max(-1, ...layer) + 1 }, () => []);
  const before: number[][] = layer.map(() => []);
  const after: number[][] = layer.map(() => []);
  layer.forEach((at, task) => {
    order[at]?.push(task);
  });
  const span = ([from, to]: readonly [number, number]) => (layer[to] ?? 0) - (layer[from] ?? 0);
  const bent = edges.reduce((sum, edge) => sum + span(edge) - 1, 0) <= MAX_BENDS;
  const bends = edges.map(([from, to]) => {
    const edgeBends: number[] = [];
    for (let at = (layer[from] ?? 0) + 1; bent && at < (layer[to] ?? 0); at += 1) {
      edgeBends.push(before.length);
      order[at]?.push(before.length);
      before.push([]);
      after.push([]);
    }
    const path = [from, ...edgeBends, to];
    path.slice(1).forEach((vertex, place) => {
      const left = path[place] ?? from;
      after[left]?.push(vertex);
      before[vertex]?.push(left);
    });
    return edgeBends;
  });
  return { order, tasks: layer.length, before, after, bends };
}

/** Orders each layer by the mean position of its neighbours; vertices without any stay. */
function sweepLayers(
  order: readonly (readonly number[])[],
  neighbours: readonly (readonly number[])[],
  backwards: boolean,
): readonly (readonly number[])[] {
  const place = new Float64Array(neighbours.length);
  const sorted = order.map((vertices) => [...vertices]);
  for (const vertices of sorted) for (const [at, vertex] of vertices.entries()) place[vertex] = at;
  for (const vertices of backwards ? sorted.toReversed() : sorted) {
    const wanted = new Map(vertices.map((vertex) => [vertex, mean(neighbours[vertex] ?? [], place)]));
    const at = (vertex: number) => wanted.get(vertex) ?? place[vertex] ?? 0;
    vertices.sort((a, b) => at(a) - at(b) || (place[a] ?? 0) - (place[b] ?? 0));
    for (const [now, vertex] of vertices.entries()) place[vertex] = now;
  }
  return sorted;
}

function mean(vertices: readonly number[], place: Float64Array): number | undefined {
  if (vertices.length === 0) return undefined;
  return vertices.reduce((sum, vertex) => sum + (place[vertex] ?? 0), 0) / vertices.length;
}

/** The number of crossings between adjacent layers. */
export function countCrossings(
  order: readonly (readonly number[])[],
  after: readonly (readonly number[])[],
): number {
  const place = new Map<number, number>();
  for (const vertices of order) for (const [at, vertex] of vertices.entries()) place.set(vertex, at);
  let found = 0;
  order.forEach((vertices, at) => {
    const counts = new Uint32Array((order[at + 1]?.length ?? 0) + 1);
    let drawn = 0;
    for (const vertex of vertices) {
      const ends = (after[vertex] ?? []).map((end) => place.get(end) ?? 0);
      for (const end of ends) found += drawn - countUpTo(counts, end);
      for (const end of ends) addEnd(counts, end);
      drawn += ends.length;
    }
  });
  return found;
}

/* A Fenwick tree: how many ends are at a place or above it. */

function addEnd(counts: Uint32Array, place: number): void {
  for (let at = place + 1; at < counts.length; at += at & -at) counts[at] = (counts[at] ?? 0) + 1;
}

function countUpTo(counts: Uint32Array, place: number): number {
  let sum = 0;
  for (let at = place + 1; at > 0; at -= at & -at) sum += counts[at] ?? 0;
  return sum;
}

const PLACE_SWEEPS = 6;

/** `room` is the height a vertex needs, with its share of the gaps. `fixed` layers stay as they are. */
function placeVertices(
  layers: Layers,
  height: (vertex: number) => number,
  fixed: readonly (readonly number[] | null)[],
): Float64Array {
  const centers = new Float64Array(layers.before.length);
  layers.order.forEach((vertices, layer) => {
    const heights = vertices.map(height);
    const start = fixed[layer] ?? separate(stackCenters(heights), heights);
    for (const [at, vertex] of vertices.entries()) centers[vertex] = start[at] ?? 0;
  });
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep += 1) {
    const neighbours = sweep % 2 === 0 ? layers.before : layers.after;
    const range = layers.order.map((_, layer) => layer);
    for (const layer of sweep % 2 === 0 ? range : range.toReversed()) {
      const vertices = layers.order[layer] ?? [];
      if (fixed[layer]) continue;
      const wanted = vertices.map(
        (vertex) => mean(neighbours[vertex] ?? [], centers) ?? centers[vertex] ?? 0,
      );
      const found = separate(wanted, vertices.map(height));
      for (const [at, vertex] of vertices.entries()) centers[vertex] = found[at] ?? 0;
    }
  }
  return centers;
}

/** Stacked, centred at 0. */
function stackCenters(heights: readonly number[]): number[] {
  const all = heights.reduce((sum, each) => sum + each, 0);
  let top = -all / 2;
  return heights.map((each) => {
    top += each;
    return top - each / 2;
  });
}

/**
 * Positions as near as possible to the wanted ones (least squares), without overlap and in the same order:
 * neighbours that would overlap become one block at the mean of their wanted positions.
 */
export function separate(wanted: readonly number[], heights: readonly number[]): number[] {
  const offsets = stackCenters(heights);
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
  const shifts = blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
  return offsets.map((offset, at) => offset + (shifts[at] ?? 0));
}
