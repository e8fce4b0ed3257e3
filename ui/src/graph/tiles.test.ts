import { describe, expect, it } from "vitest";
import { laidOut, NODE } from "./layout";
import { boundsOf, inView, tilesOf, viewOf } from "./tiles";

const wave = Array.from({ length: 1000 }, (_, at) => `t${at}`);
const layout = laidOut({ waves: [wave, ["last"]], edges: [{ from: "t0", to: "last" }] });
const tiles = tilesOf(layout, true);

describe("the tiles of a graph", () => {
  it("hold each task and each head once", () => {
    expect(tiles.flatMap(({ tasks }) => tasks.map(({ id }) => id)).sort()).toEqual([...wave, "last"].sort());
    expect(tiles.flatMap(({ heads }) => heads.map(({ wave }) => wave)).sort()).toEqual([1, 2]);
  });

  it("are many, and none holds very much", () => {
    expect(tiles.length).toBeGreaterThan(15);
    expect(Math.max(...tiles.map(({ weight }) => weight))).toBeLessThan(80);
  });

  it("are those in view, and all of them where the whole is seen", () => {
    expect(inView(tiles, boundsOf(layout))).toHaveLength(tiles.length);
    const place = layout.places.get("t500") ?? { x: 0, y: 0 };
    const seen = inView(tiles, { ...place, ...NODE });
    expect(seen.length).toBeLessThan(5);
    expect(seen.flatMap(({ tasks }) => tasks.map(({ id }) => id))).toContain("t500");
    expect(inView(tiles, { x: -9e6, y: -9e6, width: 10, height: 10 })).toEqual([]);
  });
});

it("a view is told in the measure of the graph", () => {
  expect(viewOf([-100, 50, 0.5], 400, 300)).toEqual({ x: 200, y: -100, width: 800, height: 600 });
});
