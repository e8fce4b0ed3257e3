/* Splits the graph into tiles, of which only visible ones are rendered. Pure. */

import { type Band, HEADING, type Layout, NODE, type Point } from "./layout";
import type { RenderChunk } from "./progressiveRender";

const TEXT_WEIGHT = 3; // factor of the rendered area at readable zoom
const TILE_SIZE = { width: 4 * 244, height: 12 * 68 };
const VIEW_MARGIN = 0.1; // margin around the viewport, as a share of it

export interface Rect extends Point {
  readonly width: number;
  readonly height: number;
}

export interface Tile extends RenderChunk {
  readonly tasks: readonly { readonly id: string; readonly place: Point }[];
  readonly headings: readonly Band[];
  /** The bounds of everything on the tile. */
  readonly bounds: Rect;
  /** Rendered without text, because the zoom is too small. */
  readonly far: boolean;
}

/** Each task and each wave header is on one tile. */
export function buildTiles({ places, bands }: Layout, far: boolean): Tile[] {
  const found = new Map<string, { tasks: Tile["tasks"][number][]; headings: Band[] }>();
  const at = ({ x, y }: Point) => {
    const key = `${Math.floor(x / TILE_SIZE.width)} ${Math.floor(y / TILE_SIZE.height)}`;
    const tile = found.get(key) ?? { tasks: [], headings: [] };
    found.set(key, tile);
    return tile;
  };
  for (const [id, place] of places) at(place).tasks.push({ id, place });
  for (const band of bands) at(band).headings.push(band);
  return [...found].map(([key, { tasks, headings }]) => {
    const rects = [...tasks.map(({ place }) => ({ ...place, ...NODE })), ...headings.map(headingRect)];
    return {
      key,
      weight: rects.length * (far ? 1 : TEXT_WEIGHT),
      tasks,
      headings,
      bounds: boundingBox(rects),
      far,
    };
  });
}

export function layoutBounds({ places, bands }: Layout): Rect {
  return boundingBox([
    ...[...places.values()].map((place) => ({ ...place, ...NODE })),
    ...bands.map(headingRect),
  ]);
}

/** The tiles in or near the viewport. */
export function visibleTiles(tiles: readonly Tile[], view: Rect): Tile[] {
  const [beside, above] = [view.width * VIEW_MARGIN, view.height * VIEW_MARGIN];
  return tiles.filter(
    ({ bounds: { x, y, width, height } }) =>
      x < view.x + view.width + beside &&
      x + width > view.x - beside &&
      y < view.y + view.height + above &&
      y + height > view.y - above,
  );
}

/** The visible area, from React Flow's transform. */
export function visibleRect(
  transform: readonly [number, number, number],
  width: number,
  height: number,
): Rect {
  const [x, y, zoom] = transform;
  return { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom };
}

export function headingRect({ x, y, width }: Band): Rect {
  return { x, y, width, height: HEADING.height };
}

function boundingBox(rects: readonly Rect[]): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width, height } of rects) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}
