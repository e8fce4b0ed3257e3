/* Which tasks are chosen. It outlives scrolling, filtering and live updates: only a person changes it, and a source that
   has a chosen task no more. */

import { create } from "zustand";
import { useBoard } from "./board";

interface Selection {
  readonly chosen: ReadonlySet<string>;
  /** Where a range begins: what was chosen or put back last. */
  readonly anchor: string | null;
}

export const useSelection = create<Selection>(() => ({ chosen: new Set(), anchor: null }));

export function toggle(id: string): void {
  useSelection.setState(({ chosen }) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    return { chosen: next, anchor: id };
  });
}

/** From the anchor to this one, in the order in which they are seen; where the anchor is not among them only this one. */
export function choosePast(id: string, seen: readonly string[]): void {
  useSelection.setState(({ chosen, anchor }) => {
    const [from, to] = [seen.indexOf(anchor ?? id), seen.indexOf(id)];
    if (from < 0 || to < 0) return { chosen: new Set(chosen).add(id), anchor: id };
    const range = seen.slice(Math.min(from, to), Math.max(from, to) + 1);
    return { chosen: new Set([...chosen, ...range]), anchor: id };
  });
}

/** All of them; and none of them where all were chosen already. */
export function chooseAll(ids: readonly string[]): void {
  useSelection.setState(({ chosen, anchor }) => {
    const every = ids.length > 0 && ids.every((id) => chosen.has(id));
    const next = new Set(chosen);
    for (const id of ids) every ? next.delete(id) : next.add(id);
    return { chosen: next, anchor };
  });
}

export function clear(): void {
  useSelection.setState({ chosen: new Set(), anchor: null });
}

/** Without those that are not there any more. */
export function keepOnly(there: { has(id: string): boolean }): void {
  const { chosen, anchor } = useSelection.getState();
  const left = [...chosen].filter((id) => there.has(id));
  if (left.length === chosen.size) return;
  useSelection.setState({
    chosen: new Set(left),
    anchor: anchor !== null && there.has(anchor) ? anchor : null,
  });
}

useBoard.subscribe(({ board, loaded }, before) => {
  if (loaded && board.tasks !== before.board.tasks) keepOnly(board.tasks);
});
