/* Focus, hover and search in the graph, and arrow-key navigation. */

import { create } from "zustand";
import type { Graph } from "../api/types";
import { groupBy } from "../model/groupBy";
import type { Layout, Shape } from "./geometry";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown" | "Home" | "End";
const ARROWS: readonly string[] = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];

export function isArrow(key: string): key is Arrow {
  return ARROWS.includes(key);
}

/** Left and right follow dependencies if there are any, else lead to the nearest task. */
export function neighbour({ places }: Layout, { edges }: Shape, from: string, arrow: Arrow): string {
  const at = places.get(from);
  if (at === undefined) return from;
  const all = [...places].sort(([, a], [, b]) => a.x - b.x || a.y - b.y);
  const nearest = (candidates: typeof all) =>
    candidates.reduce<(typeof all)[number] | undefined>(
      (best, each) => (best === undefined || far(each[1]) < far(best[1]) ? each : best),
      undefined,
    )?.[0] ?? from;
  const far = (place: { x: number; y: number }) => Math.abs(place.x - at.x) * 4 + Math.abs(place.y - at.y);
  const linked = (ids: readonly string[]) => all.filter(([id]) => ids.includes(id));
  switch (arrow) {
    case "Home":
      return all[0]?.[0] ?? from;
    case "End":
      return all.at(-1)?.[0] ?? from;
    case "ArrowUp":
      return nearest(all.filter(([, place]) => place.x === at.x && place.y < at.y));
    case "ArrowDown":
      return nearest(all.filter(([, place]) => place.x === at.x && place.y > at.y));
    case "ArrowLeft": {
      const before = linked(edges.filter(({ to }) => to === from).map((edge) => edge.from));
      return nearest(before.length > 0 ? before : all.filter(([, place]) => place.x < at.x));
    }
    case "ArrowRight": {
      const after = linked(edges.filter((edge) => edge.from === from).map(({ to }) => to));
      return nearest(after.length > 0 ? after : all.filter(([, place]) => place.x > at.x));
    }
  }
}

/** The task, everything that it needs, and everything that needs it, directly or not. */
export function findChain(edges: Graph["edges"], id: string): ReadonlySet<string> {
  const before = groupBy(edges, ({ to }) => to);
  const after = groupBy(edges, ({ from }) => from);
  const reach = (next: (task: string) => readonly string[]) => {
    const found = new Set([id]);
    for (const task of found) for (const other of next(task)) found.add(other); // a set visits what is added meanwhile
    return found;
  };
  return new Set([
    ...reach((task) => (before.get(task) ?? []).map(({ from }) => from)),
    ...reach((task) => (after.get(task) ?? []).map(({ to }) => to)),
  ]);
}

interface GraphFocus {
  /** The one task that Tab leads to. */
  readonly current: string | null;
  /** `current` gets the focus as soon as it is rendered. */
  readonly takeFocus: boolean;
  readonly hovered: string | null;
  readonly hoveredEdge: string | null;
  /** The chain of the hovered task, if it is more than the task. */
  readonly chain: ReadonlySet<string> | null;
  /** `null`: no search. */
  readonly matches: ReadonlySet<string> | null;
}

const NO_FOCUS: GraphFocus = {
  current: null,
  takeFocus: false,
  hovered: null,
  hoveredEdge: null,
  chain: null,
  matches: null,
};

export const useGraphFocus = create<GraphFocus>(() => NO_FOCUS);

export function setGraphFocus(change: Partial<GraphFocus>): void {
  useGraphFocus.setState(change);
}

export function resetGraphFocus(): void {
  useGraphFocus.setState(NO_FOCUS);
}
