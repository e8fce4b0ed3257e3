import { describe, expect, it } from "vitest";
import { NODE } from "./geometry";
import { layoutGraph } from "./layout";
import { buildTiles, layoutBounds, visibleRect, visibleTiles } from "./viewportCulling";

const wave = Array.from({ length: 1000 }, (_, at) => `t${at}`);
const layout = layoutGraph({ waves: [wave, ["last"]], phases: [], edges: [{ from: "t0", to: "last" }] });
const tiles = buildTiles(layout, true);

describe("the tiles of a graph", () => {
  it("contain each task once", () => {
    expect(tiles.flatMap(({ tasks }) => tasks.map(({ id }) => id)).sort()).toEqual([...wave, "last"].sort());
  });

  it("are many and small", () => {
    expect(tiles.length).toBeGreaterThan(15);
    expect(Math.max(...tiles.map(({ weight }) => weight))).toBeLessThan(80);
  });

  it("are those in the viewport, and all of them when zoomed out", () => {
    expect(visibleTiles(tiles, layoutBounds(layout))).toHaveLength(tiles.length);
    const place = layout.places.get("t500") ?? { x: 0, y: 0 };
    const seen = visibleTiles(tiles, { ...place, ...NODE });
    expect(seen.length).toBeLessThan(5);
    expect(seen.flatMap(({ tasks }) => tasks.map(({ id }) => id))).toContain("t500");
    expect(visibleTiles(tiles, { x: -9e6, y: -9e6, width: 10, height: 10 })).toEqual([]);
  });
});

it("the viewport is converted to graph coordinates", () => {
  expect(visibleRect([-100, 50, 0.5], 400, 300)).toEqual({ x: 200, y: -100, width: 800, height: 600 });
});
