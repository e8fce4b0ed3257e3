/* Splits the graph into tiles, of which only visible ones are rendered. Pure. */

import { groupBy } from "../model/groupBy";
import { boundingBox, type Layout, NODE, type Point, type Rect } from "./geometry";
import type { RenderChunk } from "./progressiveRender";

const TEXT_WEIGHT = 3; // factor of the rendered area at readable zoom
const TILE_SIZE = { width: 4 * 244, height: 12 * 68 };
const VIEW_MARGIN = 0.1; // margin around the viewport, as a share of it

export interface Tile extends RenderChunk {
  readonly tasks: readonly { readonly id: string; readonly place: Point }[];
  readonly bounds: Rect;
  /** Rendered without text, because the zoom is too small. */
  readonly far: boolean;
}

/** Each task is on one tile. */
export function buildTiles({ places }: Layout, far: boolean): Tile[] {
  const tasks = [...places].map(([id, place]) => ({ id, place }));
  const tiles = groupBy(
    tasks,
    ({ place: { x, y } }) => `${Math.floor(x / TILE_SIZE.width)} ${Math.floor(y / TILE_SIZE.height)}`,
  );
  return [...tiles].map(([key, mine]) => ({
    key,
    weight: mine.length * (far ? 1 : TEXT_WEIGHT),
    tasks: mine,
    bounds: boundingBox(mine.map(({ place }) => ({ ...place, ...NODE }))),
    far,
  }));
}

export function layoutBounds({ places, bands }: Layout): Rect {
  return boundingBox([...[...places.values()].map((place) => ({ ...place, ...NODE })), ...bands]);
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
