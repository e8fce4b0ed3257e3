/* The selected tasks. The selection survives scrolling, filtering and live updates; only the user changes it, or a task that
   disappears from its source. */

import { create } from "zustand";
import { useBoard } from "./board";

interface Selection {
  readonly selected: ReadonlySet<string>;
  /** The start of a range: the task that was toggled last. */
  readonly anchor: string | null;
}

export const useSelection = create<Selection>(() => ({ selected: new Set(), anchor: null }));

export function toggleSelected(id: string): void {
  useSelection.setState(({ selected }) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    return { selected: next, anchor: id };
  });
}

/**
 * Selects from the anchor to this task, in the displayed order; only this one if the anchor isn't displayed.
 */
export function selectRange(id: string, visible: readonly string[]): void {
  useSelection.setState(({ selected, anchor }) => {
    const [from, to] = [visible.indexOf(anchor ?? id), visible.indexOf(id)];
    if (from < 0 || to < 0) return { selected: new Set(selected).add(id), anchor: id };
    const range = visible.slice(Math.min(from, to), Math.max(from, to) + 1);
    return { selected: new Set([...selected, ...range]), anchor: id };
  });
}

/** Selects all of them, or none if all are selected. */
export function toggleAll(ids: readonly string[]): void {
  useSelection.setState(({ selected, anchor }) => {
    const every = ids.length > 0 && ids.every((id) => selected.has(id));
    const next = new Set(selected);
    for (const id of ids) every ? next.delete(id) : next.add(id);
    return { selected: next, anchor };
  });
}

export function clearSelection(): void {
  useSelection.setState({ selected: new Set(), anchor: null });
}

/** Removes tasks that no longer exist. */
function retainSelected(existing: { has(id: string): boolean }): void {
  const { selected, anchor } = useSelection.getState();
  const left = [...selected].filter((id) => existing.has(id));
  if (left.length === selected.size) return;
  useSelection.setState({
    selected: new Set(left),
    anchor: anchor !== null && existing.has(anchor) ? anchor : null,
  });
}

useBoard.subscribe(({ board, loaded }, before) => {
  if (loaded && board.tasks !== before.board.tasks) retainSelected(board.tasks);
});
