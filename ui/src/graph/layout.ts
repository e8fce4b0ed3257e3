/* Where the tasks of a graph stand: a band for each wave, from left to right. Pure.

   Law: it follows from the waves and the edges alone, so that nothing moves when only statuses change. */

import type { Graph } from "../api/types";
import { type Layers, orderLayers } from "./ordering";
import { placeVertices, stackCenters } from "./placing";

export const NODE = { width: 216, height: 54 };
export const HEADING = { height: 22, gap: 12 }; // of a wave, above its tasks
const GAP = { column: 28, row: 14, band: 96 };
const BEND_HEIGHT = 12; // px that a line takes where it passes a wave
const MIN_ROWS = 14;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where a wave stands; its head is at the upper left corner. */
export interface Band extends Point {
  readonly wave: number;
  readonly width: number;
}

/** All that a layout depends on. */
export interface Shape {
  readonly waves: readonly (readonly string[])[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

export interface Layout {
  /** The upper left corner of each task. */
  readonly places: ReadonlyMap<string, Point>;
  readonly bands: readonly Band[];
  /** For each edge, in their order: the points that its line goes through. */
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

/** What a wave has from left to right. */
type BandSpan = Omit<Band, "y">;

interface LayoutContext {
  readonly layers: Layers;
  readonly grids: readonly Grid[];
  readonly bands: readonly BandSpan[];
  readonly centers: Float64Array;
}

/** A wave that is too high for one column stands in several. */
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
    if (band === undefined || grids[layer]?.centers) return []; // between the columns of a grid there is no way
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
