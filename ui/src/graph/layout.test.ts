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
  test("has each wave to the right of the one before", () => {
    const { places, bands } = layoutGraph(HOUSE);
    for (const { from, to } of HOUSE.edges)
      expect((places.get(from)?.x ?? 0) + NODE.width).toBeLessThan(places.get(to)?.x ?? 0);
    expect(bands.map(({ wave }) => wave)).toEqual([1, 2, 3]);
  });

  test("is the same for the same graph, whatever the statuses are", () => {
    const said = {
      waves: HOUSE.waves as string[][],
      edges: HOUSE.edges.map((e) => ({ ...e, kind: "need", reason: "", at: null })),
    };
    const shape = graphShape(said as Parameters<typeof graphShape>[0]);
    expect(shape).toEqual(HOUSE);
    expect(layoutGraph(shape)).toEqual(layoutGraph(structuredClone(HOUSE)));
  });

  test("puts no task over another", () => {
    expect(overlapping(HOUSE)).toEqual([]);
    expect(overlapping(many(300, 9))).toEqual([]);
    expect(overlapping(many(300, 1))).toEqual([]);
  });

  test("leads a line past the tasks of the waves that it passes", () => {
    const { places, routes } = layoutGraph(HOUSE);
    const long = routes[4] ?? [];
    expect(long).toHaveLength(4);
    for (const id of HOUSE.waves[1] ?? []) {
      const top = places.get(id)?.y ?? 0;
      const y = long[1]?.y ?? 0;
      expect(y < top || y > top + NODE.height, `${id} at ${top}, line at ${y}`).toBe(true);
    }
  });

  test("keeps the entrants of a contest beside each other", () => {
    const tries = ["a@1", "b@1", "a@2", "b@2", "a@3", "b@3"];
    const edges = tries.map((from) => ({ from, to: from.slice(0, 1) }));
    const { places } = layoutGraph({ waves: [tries, ["a", "b"]], edges });
    const down = tries.toSorted((one, other) => (places.get(one)?.y ?? 0) - (places.get(other)?.y ?? 0));
    expect(down.map((id) => id.slice(0, 1)).join("")).toMatch(/^(aaabbb|bbbaaa)$/);
  });

  test("stands a wave of very many tasks in several columns", () => {
    const { places, bands } = layoutGraph(many(1000, 1));
    const columns = new Set([...places.values()].map(({ x }) => x));
    expect(columns.size).toBeGreaterThan(10);
    expect(bands[0]?.width).toBeGreaterThan(columns.size * NODE.width);
  });

  test("of nothing is nothing", () => {
    expect(layoutGraph({ waves: [], edges: [] })).toEqual({ places: new Map(), bands: [], routes: [] });
  });

  test("of 1,000 tasks is there before anybody waits", { timeout: 5_000 }, () => {
    const shape = many(1000, 25);
    const { places, routes } = layoutGraph(shape);
    expect(places.size).toBe(1000);
    expect(routes.every((route) => route.length >= 2)).toBe(true);
  });
});

describe("the order in a layer", () => {
  test("uncrosses what need not cross", () => {
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

  test("lines that share an end do not cross", () => {
    expect(countCrossings([[0, 1], [2]], [[2], [2], []])).toBe(0);
  });
});

test("tasks stand where they wish, and share what they can't both have", () => {
  expect(separate([0, 100], [10, 10])).toEqual([0, 100]);
  expect(separate([50, 50], [10, 10])).toEqual([45, 55]);
  expect(separate([100, 0], [10, 10])).toEqual([45, 55]);
  expect(separate([], [])).toEqual([]);
});

describe("arrow keys", () => {
  const layout = layoutGraph(HOUSE);
  const go = (from: string, arrow: Parameters<typeof neighbour>[3]) => neighbour(layout, HOUSE, from, arrow);

  test("left and right follow needs", () => {
    expect(go("door", "ArrowRight")).toBe("lock");
    expect(go("lock", "ArrowLeft")).toBe("door");
    expect(go("roof", "ArrowLeft")).toBe("windows");
  });

  test("up and down stay in the wave, and end at its ends", () => {
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

  test("where nothing is needed, they lead to what is nearest; at the edge, nowhere", () => {
    expect(["windows", "lock", "paint"]).toContain(go("roof", "ArrowLeft"));
    expect(go("roof", "ArrowRight")).toBe("roof");
    expect(go("walls", "ArrowLeft")).toBe("walls");
    expect(go("roof", "Home")).not.toBe("roof");
    expect(go("walls", "End")).toBe("roof");
  });
});
