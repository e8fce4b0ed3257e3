import { describe, expect, test } from "vitest";
import { neighbour } from "./graphFocus";
import { countCrossings, graphShape, layoutGraph, NODE, orderLayers, type Shape, separate } from "./layout";

const HOUSE: Shape = {
  waves: [["walls", "door"], ["windows", "lock", "paint"], ["roof"]],
  edges: [
    { from: "walls", to: "windows" },
    { from: "walls", to: "paint" },
    { from: "door", to: "lock" },
    { from: "windows", to: "roof" },
    { from: "door", to: "roof" },
  ],
};

/** Many tasks in many waves, each needing some of the wave before and one of the first. */
function many(tasks: number, deep: number): Shape {
  const waves: string[][] = Array.from({ length: deep }, () => []);
  for (let at = 0; at < tasks; at += 1) waves[at % deep]?.push(`t${at}`);
  const edges = waves.slice(1).flatMap((wave, at) =>
    wave.flatMap((to, place) => [
      { from: waves[at]?.[(place * 7) % (waves[at]?.length ?? 1)] ?? "", to },
      { from: waves[0]?.[place % (waves[0]?.length ?? 1)] ?? "", to },
    ]),
  );
  return { waves, edges };
}

function overlapping(shape: Shape): string[] {
  const places = [...layoutGraph(shape).places].sort(([, a], [, b]) => a.x - b.x || a.y - b.y);
  return places.flatMap(([id, place], at) => {
    const next = places[at + 1]?.[1];
    return next !== undefined && next.x === place.x && next.y - place.y < NODE.height ? [id] : [];
  });
}

describe("a layout", () => {
  test("places each wave to the right of the one before", () => {
    const { places, bands } = layoutGraph(HOUSE);
    for (const { from, to } of HOUSE.edges)
      expect((places.get(from)?.x ?? 0) + NODE.width).toBeLessThan(places.get(to)?.x ?? 0);
    expect(bands.map(({ wave }) => wave)).toEqual([1, 2, 3]);
  });

  test("is the same for the same graph, whatever the statuses", () => {
    const plan = {
      waves: HOUSE.waves as string[][],
      edges: HOUSE.edges.map((e) => ({ ...e, kind: "need", reason: "", at: null })),
    };
    const shape = graphShape(plan as Parameters<typeof graphShape>[0]);
    expect(shape).toEqual(HOUSE);
    expect(layoutGraph(shape)).toEqual(layoutGraph(structuredClone(HOUSE)));
  });

  test("has no overlapping tasks", () => {
    expect(overlapping(HOUSE)).toEqual([]);
    expect(overlapping(many(300, 9))).toEqual([]);
    expect(overlapping(many(300, 1))).toEqual([]);
  });

  test("routes edges around the tasks of waves in between", () => {
    const { places, routes } = layoutGraph(HOUSE);
    const long = routes[4] ?? [];
    expect(long).toHaveLength(4);
    for (const id of HOUSE.waves[1] ?? []) {
      const top = places.get(id)?.y ?? 0;
      const y = long[1]?.y ?? 0;
      expect(y < top || y > top + NODE.height, `${id} at ${top}, line at ${y}`).toBe(true);
    }
  });

  test("keeps the entrants of a contest together", () => {
    const tries = ["a@1", "b@1", "a@2", "b@2", "a@3", "b@3"];
    const edges = tries.map((from) => ({ from, to: from.slice(0, 1) }));
    const { places } = layoutGraph({ waves: [tries, ["a", "b"]], edges });
    const down = tries.toSorted((one, other) => (places.get(one)?.y ?? 0) - (places.get(other)?.y ?? 0));
    expect(down.map((id) => id.slice(0, 1)).join("")).toMatch(/^(aaabbb|bbbaaa)$/);
  });

  test("splits a large wave into several columns", () => {
    const { places, bands } = layoutGraph(many(1000, 1));
    const columns = new Set([...places.values()].map(({ x }) => x));
    expect(columns.size).toBeGreaterThan(10);
    expect(bands[0]?.width).toBeGreaterThan(columns.size * NODE.width);
  });

  test("of an empty graph is empty", () => {
    expect(layoutGraph({ waves: [], edges: [] })).toEqual({ places: new Map(), bands: [], routes: [] });
  });

  test("of 1,000 tasks is fast", { timeout: 5_000 }, () => {
    const shape = many(1000, 25);
    const { places, routes } = layoutGraph(shape);
    expect(places.size).toBe(1000);
    expect(routes.every((route) => route.length >= 2)).toBe(true);
  });
});

describe("the order in a layer", () => {
  test("removes avoidable crossings", () => {
    const edges = [
      [0, 5],
      [1, 4],
      [2, 3],
    ] as const;
    const { order, after } = orderLayers([0, 0, 0, 1, 1, 1], edges);
    expect(
      countCrossings(
        [
          [0, 1, 2],
          [3, 4, 5],
        ],
        after,
      ),
    ).toBe(3);
    expect(countCrossings(order, after)).toBe(0);
  });

  test("edges that share an end do not cross", () => {
    expect(countCrossings([[0, 1], [2]], [[2], [2], []])).toBe(0);
  });
});

test("tasks get their wanted positions, or the mean where they would overlap", () => {
  expect(separate([0, 100], [10, 10])).toEqual([0, 100]);
  expect(separate([50, 50], [10, 10])).toEqual([45, 55]);
  expect(separate([100, 0], [10, 10])).toEqual([45, 55]);
  expect(separate([], [])).toEqual([]);
});

describe("arrow keys", () => {
  const layout = layoutGraph(HOUSE);
  const go = (from: string, arrow: Parameters<typeof neighbour>[3]) => neighbour(layout, HOUSE, from, arrow);

  test("left and right follow dependencies", () => {
    expect(go("door", "ArrowRight")).toBe("lock");
    expect(go("lock", "ArrowLeft")).toBe("door");
    expect(go("roof", "ArrowLeft")).toBe("windows");
  });

  test("up and down stay in the wave, and stop at its ends", () => {
    const wave = (HOUSE.waves[1] ?? []).toSorted(
      (a, b) => (layout.places.get(a)?.y ?? 0) - (layout.places.get(b)?.y ?? 0),
    );
    const [top, middle, bottom] = wave as [string, string, string];
    expect([go(top, "ArrowUp"), go(top, "ArrowDown"), go(middle, "ArrowDown")]).toEqual([
      top,
      middle,
      bottom,
    ]);
    expect(go(bottom, "ArrowDown")).toBe(bottom);
  });

  test("without dependencies, they lead to the nearest task; at the edge, nowhere", () => {
    expect(["windows", "lock", "paint"]).toContain(go("roof", "ArrowLeft"));
    expect(go("roof", "ArrowRight")).toBe("roof");
    expect(go("walls", "ArrowLeft")).toBe("walls");
    expect(go("roof", "Home")).not.toBe("roof");
    expect(go("walls", "End")).toBe("roof");
  });
});
