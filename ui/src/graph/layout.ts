/* Where the tasks of a graph stand: a band for each wave, from left to right. Pure.

   Law: it follows from the waves and the edges alone, so that nothing moves when only statuses change. */

import type { Graph } from "../api/types";
import { type Layers, ordered } from "./ordering";
import { placed, stacked } from "./placing";

export const NODE = { width: 216, height: 54 };
export const HEAD = { height: 22, gap: 12 }; // of a wave, above its tasks
const GAP = { column: 28, row: 14, band: 96 };
const BEND = 12; // px that a line takes where it passes a wave
const FEWEST_ROWS = 14;

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

export function shapeOf({ waves, edges }: Pick<Graph, "waves" | "edges">): Shape {
  return { waves, edges: edges.map(({ from, to }) => ({ from, to })) };
}

export function laidOut({ waves, edges }: Shape): Layout {
  const ids = waves.flat();
  const index = new Map(ids.map((id, at) => [id, at]));
  const layer = waves.flatMap((wave, at) => wave.map(() => at));
  const known = (id: string) => index.get(id) ?? -1;
  const layers = ordered(
    layer,
    edges.map(({ from, to }) => [known(from), known(to)] as const),
  );
  const rows = Math.max(FEWEST_ROWS, Math.ceil(Math.sqrt(ids.length / 0.43))); // about as wide as it is high
  const grids = layers.order.map((vertices) => gridOf(vertices, layers.tasks, rows));
  const room = (vertex: number) => (vertex < layers.tasks ? NODE.height + GAP.row : BEND);
  const middles = grids.map((grid) => grid.middles);
  const drawn = { layers, grids, bands: bandsOf(grids), middle: placed(layers, room, middles) };
  const places = placesOf(ids, drawn);
  return { places, bands: headed(drawn.bands, places), routes: routesOf(edges, places, drawn) };
}

/** What a wave has from left to right. */
type Room = Omit<Band, "y">;

interface Drawn {
  readonly layers: Layers;
  readonly grids: readonly Grid[];
  readonly bands: readonly Room[];
  readonly middle: Float64Array;
}

/** A wave that is too high for one column stands in several. */
interface Grid {
  readonly columns: number;
  readonly column: ReadonlyMap<number, number>;
  readonly middles: readonly number[] | null;
}

function gridOf(vertices: readonly number[], tasks: number, rows: number): Grid {
  const mine = vertices.filter((vertex) => vertex < tasks);
  if (mine.length <= rows) return { columns: 1, column: new Map(), middles: null };
  const columns = Math.ceil(mine.length / rows);
  const deep = Math.ceil(mine.length / columns);
  const steps = stacked(new Array<number>(deep).fill(NODE.height + GAP.row));
  const row = new Map(mine.map((vertex, at) => [vertex, steps[at % deep] ?? 0]));
  const column = new Map(mine.map((vertex, at) => [vertex, Math.floor(at / deep)]));
  return { columns, column, middles: vertices.map((vertex) => row.get(vertex) ?? 0) };
}

function bandsOf(grids: readonly Grid[]): Room[] {
  let x = 0;
  return grids.map(({ columns }, at) => {
    const width = columns * (NODE.width + GAP.column) - GAP.column;
    const band = { wave: at + 1, x, width };
    x += width + GAP.band;
    return band;
  });
}

function headed(bands: readonly Room[], places: ReadonlyMap<string, Point>): Band[] {
  const top = Math.min(...[...places.values()].map(({ y }) => y));
  return bands.map((band) => ({ ...band, y: top - HEAD.height - HEAD.gap }));
}

function placesOf(ids: readonly string[], { layers, grids, bands, middle }: Drawn): Map<string, Point> {
  const places = new Map<string, Point>();
  layers.order.forEach((vertices, layer) => {
    for (const vertex of vertices) {
      const id = vertex < layers.tasks ? ids[vertex] : undefined;
      if (id === undefined) continue;
      const column = grids[layer]?.column.get(vertex) ?? 0;
      const x = (bands[layer]?.x ?? 0) + column * (NODE.width + GAP.column);
      places.set(id, { x, y: Math.round((middle[vertex] ?? 0) - NODE.height / 2) });
    }
  });
  return places;
}

function routesOf(edges: Shape["edges"], places: ReadonlyMap<string, Point>, drawn: Drawn): Point[][] {
  const { layers, grids, bands, middle } = drawn;
  const layerOf = new Map(
    layers.order.flatMap((all, layer) => all.map((vertex) => [vertex, layer] as const)),
  );
  const through = (vertex: number): Point[] => {
    const layer = layerOf.get(vertex) ?? 0;
    const band = bands[layer];
    if (band === undefined || grids[layer]?.middles) return []; // between the columns of a grid there is no way
    const y = Math.round(middle[vertex] ?? 0);
    return [
      { x: band.x, y },
      { x: band.x + band.width, y },
    ];
  };
  return edges.map(({ from, to }, at) => {
    const bends = (layers.bends[at] ?? []).flatMap(through);
    return [...side(places.get(from), NODE.width), ...bends, ...side(places.get(to), 0)];
  });
}

function side(place: Point | undefined, right: number): Point[] {
  return place === undefined ? [] : [{ x: place.x + right, y: place.y + NODE.height / 2 }];
}
