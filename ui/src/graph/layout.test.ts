import { describe, expect, test } from "vitest";
import type { Graph } from "../api/types";
import { COLUMN_WIDTH, NODE, type Shape } from "./geometry";
import { findChain, neighbour } from "./graphFocus";
import { layoutGraph, separate } from "./layout";

const HOUSE: Shape = {
  waves: [["walls", "door"], ["windows", "lock", "paint"], ["roof"]],
  phases: [],
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
  return { waves, phases: [], edges };
}

const sides = ({ x, y }: { x: number; y: number }) => ({
  left: x,
  right: x + NODE.width,
  top: y,
  bottom: y + NODE.height,
});

function overlapping(shape: Shape): string[] {
  const places = [...layoutGraph(shape).places].sort(([, a], [, b]) => a.x - b.x || a.y - b.y);
  return places.flatMap(([id, place], at) => {
    const next = places[at + 1]?.[1];
    return next !== undefined && next.x === place.x && next.y - place.y < NODE.height ? [id] : [];
  });
}

/** Edges that are behind a task where they pass its column. */
function hidden(shape: Shape): string[] {
  const { places, routes } = layoutGraph(shape);
  return shape.edges.flatMap(({ from, to }, at) =>
    (routes[at] ?? []).slice(1, -1).flatMap((point) =>
      [...places].flatMap(([id, place]) => {
        const { left, right, top, bottom } = sides(place);
        const isBehind = point.x >= left && point.x <= right && point.y > top && point.y < bottom;
        return isBehind ? [`${from} to ${to} behind ${id}`] : [];
      }),
    ),
  );
}

describe("a layout", () => {
  test("has one column for each wave, whatever its size", () => {
    for (const shape of [HOUSE, many(90, 5), many(90, 1)]) {
      const { places } = layoutGraph(shape);
      shape.waves.forEach((wave, at) => {
        expect(new Set(wave.map((id) => places.get(id)?.x))).toEqual(new Set([at * COLUMN_WIDTH]));
      });
    }
  });

  test("is the same for the same plan", () => {
    expect(layoutGraph(HOUSE)).toEqual(layoutGraph(structuredClone(HOUSE)));
  });

  test("has no overlapping tasks, and is not much higher than its fullest wave", () => {
    for (const shape of [HOUSE, many(90, 6), many(90, 1)]) expect(overlapping(shape)).toEqual([]);
    const { waves, edges } = many(300, 9);
    const near = edges.filter((_, at) => at % 2 === 0);
    const ys = [...layoutGraph({ waves, phases: [], edges: near }).places.values()].map(({ y }) => y);
    expect(Math.max(...ys) - Math.min(...ys)).toBeLessThan(1.5 * Math.ceil(300 / 9) * (NODE.height + 14));
  });

  test("has edges between tasks, never behind them", () => {
    expect(layoutGraph(HOUSE).routes[4]).toHaveLength(4);
    for (const shape of [HOUSE, many(90, 6), { ...many(90, 6), phases: sidePhases(many(90, 6)) }])
      expect(hidden(shape)).toEqual([]);
  });

  test("keeps the entrants of a contest together", () => {
    const tries = ["a@1", "b@1", "a@2", "b@2", "a@3", "b@3"];
    const edges = tries.map((from) => ({ from, to: from.slice(0, 1) }));
    const { places } = layoutGraph({ waves: [tries, ["a", "b"]], phases: [], edges });
    const down = tries.toSorted((one, other) => (places.get(one)?.y ?? 0) - (places.get(other)?.y ?? 0));
    expect(down.map((id) => id.slice(0, 1)).join("")).toMatch(/^(aaabbb|bbbaaa)$/);
  });

  test("of an empty graph is empty", () => {
    expect(layoutGraph({ waves: [], phases: [], edges: [] })).toEqual({
      places: new Map(),
      bands: [],
      routes: [],
    });
  });
});

/** Two phases at the same time, each with every other task. */
function sidePhases({ waves }: Shape): Shape["phases"] {
  const ids = waves.flat();
  return ["Walls", "Roof"].map((title, at) => ({ title, tasks: ids.filter((_, place) => place % 2 === at) }));
}

describe("the bands of phases", () => {
  /** The tasks in each band, by title. */
  const contents = (shape: Shape) => {
    const { bands, places } = layoutGraph(shape);
    return bands.map(({ title, x, y, width, height }) => {
      const inside = [...places].filter(([, place]) => {
        const { left, right, top, bottom } = sides(place);
        return right > x && left < x + width && bottom > y && top < y + height;
      });
      return { title, tasks: inside.map(([id]) => id).sort() };
    });
  };

  test("contain their tasks and no others, even if phases run at the same time", () => {
    const apart = { ...many(60, 4), phases: sidePhases(many(60, 4)) };
    expect(contents(apart)).toEqual(
      apart.phases.map(({ title, tasks }) => ({ title, tasks: [...tasks].sort() })),
    );
    const partly = { ...HOUSE, phases: [{ title: "Glass", tasks: ["windows", "lock"] }] };
    expect(contents(partly)).toEqual([{ title: "Glass", tasks: ["lock", "windows"] }]);
  });

  test("are beside each other if one phase follows the other", () => {
    const [first, second, third] = HOUSE.waves as [string[], string[], string[]];
    const phases = [
      { title: "Shell", tasks: first },
      { title: "Rest", tasks: [...second, ...third] },
    ];
    const [shell, rest] = layoutGraph({ ...HOUSE, phases }).bands;
    expect((shell?.x ?? 0) + (shell?.width ?? 0)).toBeLessThan(rest?.x ?? 0);
    expect(rest?.y).toBeLessThan((shell?.y ?? 0) + (shell?.height ?? 0));
  });

  test("are beside the tasks of no phase that come before them, and below those that run at the same time", () => {
    const [first, second, third] = HOUSE.waves as [string[], string[], string[]];
    const top = (shape: Shape) => {
      const { bands, places } = layoutGraph(shape);
      return { band: bands[0]?.y ?? 0, walls: places.get("walls")?.y ?? 0 };
    };
    const beside = top({ ...HOUSE, phases: [{ title: "Rest", tasks: [...second, ...third] }] });
    expect(Math.abs(beside.band - beside.walls)).toBeLessThan(3 * NODE.height);
    const below = top({ ...HOUSE, phases: [{ title: "Doors", tasks: [first[1] ?? "", second[1] ?? ""] }] });
    expect(below.band).toBeGreaterThan(below.walls);
  });

  test("follow one another in one row, also where there is room beside tasks of no phase", () => {
    const waves = [["a", "x"], ["b", "y"], ["z"]];
    const phases = ["x", "y", "z"].map((id) => ({ title: id, tasks: [id] }));
    const { bands } = layoutGraph({ waves, phases, edges: [] });
    const tops = bands.map(({ y }) => y);
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(NODE.height);
  });
});

test("a chain has everything before and after a task, and nothing beside it", () => {
  const edges = HOUSE.edges as Graph["edges"];
  expect([...findChain(edges, "windows")].sort()).toEqual(["roof", "walls", "windows"]);
  expect([...findChain(edges, "door")].sort()).toEqual(["door", "lock", "roof"]);
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
